#ifndef PHASOR_CORE_EXPORT_H_
#define PHASOR_CORE_EXPORT_H_

/// Marks what a Phasor shared library exports; everything else stays inside.
#define PHASOR_EXPORT __attribute__((visibility("default")))
/// Marks a member of an exported class that stays inside all the same.
#define PHASOR_HIDDEN __attribute__((visibility("hidden")))

#endif  // PHASOR_CORE_EXPORT_H_
