/*
 * pcap.h - files of captured cells and PDUs that Wireshark opens: pcap with nanoseconds, whose records are Endace's ERF
 * (link type 197), since only ERF carries both ATM cells and whole AAL5 frames with their trailers.
 */
#ifndef PVMA_PCAP_H
#define PVMA_PCAP_H

#include <stdio.h>
#include "base/sim.h"

enum pvma_pcap_type { PVMA_PCAP_CELL = 3, PVMA_PCAP_AAL5 = 4 }; /* ERF's numbers */

/* Most octets of a frame in a record; more are cut off, since ERF's lengths have 16 bits. */
#define PVMA_PCAP_FRAME_MAX (65535 - 16 - 4)

/* Writes the file's header. Errors stay in the stream, for ferror(). */
void pvma_pcap_begin(FILE *file);

/*
 * Writes a record: the time of its cell or last cell, rounded to ns; that cell's header, without HEC; and a payload or
 * an AAL5 frame with padding and trailer. `interface` is 0 to 3.
 */
void pvma_pcap_record(FILE *file, enum pvma_pcap_type type, unsigned interface, pvma_ps at, uint32_t cell_header,
                      const uint8_t *frame, size_t length);

#endif
