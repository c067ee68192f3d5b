/* serve.h - the server: carries out clients' orders one by one. */
#ifndef SERVE_H
#define SERVE_H

/*
 * Serves until SIGINT or SIGTERM or, unless `idle_s` is 0, until that many seconds have passed without an order.
 * Returns the exit status.
 */
int serve_run(const char *interface, int patience_s, int idle_s);

#endif
