/*
 * memfd.h - memory that came as a descriptor from another process, which may wish us harm.
 */
#ifndef PVMI_MEMFD_H
#define PVMI_MEMFD_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether fd is memory of just this size that can be mapped and read without fear of SIGBUS: its maker cannot shrink it
 * any more, and it is not of huge pages, of which the system may have none left when one is first touched.
 */
bool pvmi_memfd_is_sound(int fd, uint64_t bytes);

#endif
