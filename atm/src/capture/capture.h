/*
 * capture.h - cells and AAL5 PDUs as they cross links, written to pcap files (pcap.h). A PDU is joined from the cells
 * of its VC on the captured link and written when its last cell begins, also if cells are missing.
 */
#ifndef PVMA_CAPTURE_H
#define PVMA_CAPTURE_H

#include "network/network.h"

enum { PVMA_CAPTURE_LINKS_MAX = 64 };

struct pvma_capture_options {
    const char *cells, *pdus;                  /* files; NULL: none */
    const char *links[PVMA_CAPTURE_LINKS_MAX]; /* "a>s", or "all" */
    size_t link_count;                         /* 0: the links that leave hosts, so that a PDU appears once */
    uint64_t limit;                            /* records in each file; 0: unlimited */
};

struct pvma_capture;

/*
 * Creates the files and looks at the links from now on. Returns 0 and sets *capture (NULL: there is no file to write),
 * or returns PVMC_EPARAM (no such link) or PVMC_ESYSTEM, both logged. The strings must outlive the capture.
 */
int pvma_capture_open(struct pvma_net *net, const struct pvma_capture_options *options, struct pvma_capture **capture);

/* Ends the capture before the network is freed. Returns 0, or PVMC_ESYSTEM (logged) if a file is not complete. NULL is
 * allowed. */
int pvma_capture_close(struct pvma_capture *capture);

#endif
