// Macros that real headers define: <complex.h>, <termios.h>, <sys/sysmacros.h>, X11, windows.h, Apple's AssertMacros.h.
// Included between the standard headers and the library, so only the library's own names can collide.
// clang-format off
#define min(a, b)    hostile_min
#define max(a, b)    hostile_max
#define check(x)     hostile_check
#define verify(x)    hostile_verify
#define require(x)   hostile_require
#define major(x)     hostile_major
#define minor(x)     hostile_minor
#define I            hostile_imaginary_unit
#define B0           hostile_baud_rate
#define CHECK(x)     hostile_check
#define None         0L
#define Bool         int
#define Status       int
#define Success      0
#define Always       2
#define near         hostile_near
#define far          hostile_far
#define small        hostile_small
#define interface    hostile_interface
#define OUT          hostile_out
#define IN           hostile_in
// clang-format on
