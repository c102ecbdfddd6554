include(CMakeFindDependencyMacro)
find_dependency(Threads)
# Without CUDA the host part (rnnopt/rnnopt_host.hpp) is usable all the same.
find_package(CUDAToolkit QUIET)

include(${CMAKE_CURRENT_LIST_DIR}/rnnopt-targets.cmake)
