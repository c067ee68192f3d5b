/*
 * notify_socket.h - tells systemd, or another service manager with its protocol, how this process is: sd_notify(3).
 *
 * Only the process that systemd started speaks. Its children know nothing of this, because the variables leave the
 * environment: a task must not be able to say that its daemon is well.
 */
#ifndef PVMC_NOTIFY_SOCKET_H
#define PVMC_NOTIFY_SOCKET_H

#include <stdint.h>

/*
 * Takes NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID out of the environment. Without them, or with a path that is no
 * address, the functions below do nothing. Called once, when the process starts.
 */
void pvmc_notify_socket_take(void);

/* Puts the variables back, for a program that replaces this one in the same process. */
void pvmc_notify_socket_give_back(void);

/* Tells children of this process how often they must show it that they are well; it then tells the service manager. */
void pvmc_notify_socket_pass_watchdog(void);

/*
 * Sends assignments such as "READY=1\nSTATUS=has 3 hosts". Never waits: the text is lost if the service manager does
 * not read, or has gone.
 */
void pvmc_notify_socket_send(const char *text);

/* How often this process must show that it is well, in microseconds; 0: never. */
int64_t pvmc_notify_socket_watchdog_us(void);

#endif
