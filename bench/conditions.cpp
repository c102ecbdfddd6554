#include "conditions.hpp"

#include "command_line.hpp"

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <ctime>
#include <fstream>

#include "cudnn_contender.hpp"
#include "device.hpp"
#include "rnnopt/version.hpp"

namespace bench {
namespace {

std::string dotted(int version, int major_unit, int minor_unit) {
  return std::to_string(version / major_unit) + "." + std::to_string(version % major_unit / minor_unit);
}

}  // namespace

std::vector<std::string> conditions(int argc, char** argv, bool cudnn_timed, rnnopt::product_choice products) {
  int device = 0, runtime = 0, driver = 0, clock = 0;
  cudaDeviceProp properties{};
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  check_cuda(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  check_cuda(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  check_cuda(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  check_cuda(cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, device), "cudaDeviceGetAttribute");

  std::string driver_text = "CUDA " + dotted(driver, 1000, 10);
  std::ifstream file("/proc/driver/nvidia/version");
  // "NVRM version: NVIDIA ... x86_64  580.95.05  Release Build ...": the version is the word of digits and dots.
  for (std::string word; file >> word;)
    if (word.find('.') != std::string::npos && word.find_first_not_of("0123456789.") == std::string::npos) {
      driver_text = word + ", " + driver_text;
      break;
    }
  std::size_t const cublas = cublasLtGetVersion();

  char date[64];
  std::time_t const now = std::time(nullptr);
  std::strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S UTC", std::gmtime(&now));
  std::string command;
  for (int i = 0; i < argc; ++i) command += (i == 0 ? "" : " ") + std::string(argv[i]);

  return {"rnnopt " + std::to_string(RNNOPT_VERSION_MAJOR) + "." + std::to_string(RNNOPT_VERSION_MINOR) + "." +
              std::to_string(RNNOPT_VERSION_PATCH),
          "device: " + std::string(properties.name) + ", sm_" + std::to_string(properties.major) +
              std::to_string(properties.minor) + ", " + std::to_string(properties.multiProcessorCount) + " SMs, " +
              std::to_string(properties.totalGlobalMem >> 20) + " MiB",
          "driver: " + driver_text,
          "CUDA runtime: " + dotted(runtime, 1000, 10),
          "cuBLASLt: " + std::to_string(cublas / 10000) + "." + std::to_string(cublas / 100 % 100) + "." +
              std::to_string(cublas % 100),
          "cuDNN: " + (cudnn_version().empty() ? "none, this program was built without it"
                       : cudnn_timed           ? cudnn_version()
                                               : cudnn_version() + ", not timed"),
          "SM clock: " + std::to_string(clock / 1000) + " MHz at most, as the device reports it",
          "products: " + std::string(name_of(products)),
          "date: " + std::string(date),
          "command: " + command};
}

std::string no_gpu_reason() {
  int devices = 0;
  cudaError_t const found = cudaGetDeviceCount(&devices);
  if (found != cudaSuccess) return cudaGetErrorString(found);
  return devices == 0 ? "no device is visible" : "";
}

}  // namespace bench
