/* congestion.h - which congestion control a TCP connection uses. */
#ifndef PVMW_CONGESTION_H
#define PVMW_CONGESTION_H

/* Bytes of a name in the kernel, with the 0. */
#define PVMW_CONGESTION_NAME_BYTES 16

/*
 * Sets the congestion control of a connection: `choice` is a name such as "cubic", "system" for the system's default,
 * or "auto". The latter takes Reno within a host, where there is nothing to control, and instead of BBR where a round
 * trip takes less than 100 us. BBR sends by a timer, so that 1 MiB takes two to three times as long there; on so short
 * a way CUBIC, the default of most systems, does what Reno does. 0, or an errno if the kernel refuses the name.
 */
int pvmw_congestion_choose(int fd, const char *choice);

/* Whether the kernel lets this process use that choice: 0 or an errno. */
int pvmw_congestion_check(const char *choice);

#endif
