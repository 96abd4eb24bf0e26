# For ./dev arm: Debian's cross compiler, and libraries of arm64 unpacked into a folder of their own
# (PHASOR_ARM_ROOT in the environment); what is built runs under qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

set(arm_root $ENV{PHASOR_ARM_ROOT})
set(arm_libraries ${arm_root}/usr/lib/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH ${arm_root})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${arm_libraries}/pkgconfig:${arm_root}/usr/share/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${arm_root})
set(CMAKE_CXX_FLAGS_INIT "-isystem ${arm_root}/usr/include/aarch64-linux-gnu")
set(CMAKE_EXE_LINKER_FLAGS_INIT -Wl,-rpath-link,${arm_libraries})
set(CMAKE_CROSSCOMPILING_EMULATOR
  qemu-aarch64 -L /usr/aarch64-linux-gnu -E LD_LIBRARY_PATH=${arm_libraries})
