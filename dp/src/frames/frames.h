/*
 * frames.h - Directed Messages in raw Ethernet frames: the part of Directed Point that does not need libdp. PVM's
 * transport `dp` includes this header and nothing else of dp/.
 *
 *  interface.h  the Ethernet interfaces of this host
 *  socket.h     raw sockets, each locked to one point
 *  helper.h     the same for processes that may not open them
 *  port.h       a socket with its receive ring: frames out, frames in
 *  batch.h      frames that leave with one system call
 *  message.h    the header of 12 bytes behind the Ethernet header
 *
 * The functions return 0 or a code of core/error.h. Only dpi_helper_open() waits, for dp-socket. Only one thread at a
 * time may call them for the same port or batch.
 */
#ifndef DPI_DP_FRAMES_H
#define DPI_DP_FRAMES_H

#include "batch.h"
#include "helper.h"
#include "interface.h"
#include "message.h"
#include "port.h"
#include "socket.h"

#endif
