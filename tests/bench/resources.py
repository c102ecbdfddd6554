"""Lists the kernels of a recorded output of cuobjdump: resources.py REPOSITORY RESOURCE_USAGE.txt"""

import os
import pathlib
import subprocess
import sys
import tempfile

REPOSITORY, USAGE = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
sys.path[:0] = [str(REPOSITORY / "bench"), str(REPOSITORY / "tests")]
from expectations import expect  # noqa: E402
from kernel_resources import parts_of  # noqa: E402

HEADER = "kernel,cell,precision,units,cluster,rows,registers,shared_bytes,local_bytes,architecture\n"
GRADIENT = "cluster_sweep_gradient_kernel,lstm,fp16,32,8,16,128,1024,0,sm_90a\n"
SPILLING = "cluster_sweep_kernel,lstm,fp16,48,16,4,127,1024,8,sm_90a\n"
VANILLA = "cluster_sweep_gradient_kernel,vanilla<activations::tanh>,bf16,64,16,8,96,1280,0,sm_100\n"
OF_NO_SHAPE = "void rnnopt::detail::layered_sweep_kernel<float>(float*),,,,,,40,1024,12,sm_100\n"


# As cu++filt writes it.
expect(parts_of("void rnnopt::detail::cluster_sweep_kernel<rnnopt::gru, rnnopt::tf32, "
                "rnnopt::detail::team_shape<(int)32, (int)8, (int)16>>("
                "rnnopt::detail::cluster_sweep_arguments<T1, T2>)"),
       {"kernel": "cluster_sweep_kernel", "cell": "gru", "precision": "tf32", "units": 32, "cluster": 8, "rows": 16})

with tempfile.TemporaryDirectory() as folder:
    # A cuobjdump that knows one file.
    recorded = pathlib.Path(folder) / "cuobjdump"
    recorded.write_text(f"""#!{sys.executable}
import pathlib, sys
if sys.argv[1:] != ["--dump-resource-usage", "program"]:
    sys.exit("does not contain device code")
print(pathlib.Path({str(USAGE)!r}).read_text(), end="")
""")
    recorded.chmod(0o755)

    def resources(*options, path=folder + os.pathsep + os.environ["PATH"]):
        result = subprocess.run([sys.executable, "-B", REPOSITORY / "bench" / "kernel_resources.py", *options],
                                capture_output=True, text=True, env={**os.environ, "PATH": path})
        return result.returncode, result.stdout, result.stderr

    table = HEADER + GRADIENT + SPILLING + VANILLA + OF_NO_SHAPE
    expect(resources("program"), (0, table, ""))

    written = pathlib.Path(folder) / "resources.csv"
    expect(resources("program", "--csv", written, "--match", "gradient", "--no-spills"), (0, "", ""))
    expect(written.read_text(), HEADER + GRADIENT + VANILLA)

    expect(resources("program", "--no-spills"),
           (1, table, "kernel_resources.py: 8 bytes of local memory in cluster_sweep_kernel lstm fp16 48 16 4\n"
                      "kernel_resources.py: 12 bytes of local memory in "
                      "void rnnopt::detail::layered_sweep_kernel<float>(float*)\n"))
    expect(resources("program", "--match", "grid_kernel", "--no-spills"),
           (1, "", "kernel_resources.py: program has no kernel that matches 'grid_kernel'\n"))
    expect(resources("another"),
           (1, "", f"kernel_resources.py: {recorded} failed: does not contain device code\n"))
    expect(resources("program", path="nowhere"),
           (1, "", "kernel_resources.py: no cuobjdump found, needs one in PATH\n"))
