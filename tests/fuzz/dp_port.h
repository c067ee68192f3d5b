/*
 * dp_port.h - an endpoint of libdp whose network is the input. The raw socket (dp/src/frames/port.h) is faked: received
 * frames come from the input, sent frames are passed to the target.
 */
#ifndef FUZZ_DP_PORT_H
#define FUZZ_DP_PORT_H

#include "dp/src/net/endpoint.h"
#include "fuzz.h"

enum { FUZZ_NODE_POINT = 1, FUZZ_FRAME_MAX = 1514 };

extern const uint8_t fuzz_hardware[6];

/* This process' node id: names of Unix sockets contain it. */
uint16_t fuzz_node(void);

/* A new endpoint with that mode; close it without waiting for peers. */
struct dpi_endpoint *fuzz_endpoint_open(int mode);
void fuzz_endpoint_close(struct dpi_endpoint *e);

/* Delivers a frame. Dropped when there is no room, as by the kernel. */
void fuzz_port_put(const uint8_t *frame, size_t length);

/* The endpoint's own number from the last HELLO frame that it sent; 0: none. */
uint32_t fuzz_hello_sent(void);

#endif
