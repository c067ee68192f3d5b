/*
 * fore_atm.h - the ATM interface of Fore Systems, over the simulated network of atm-sim(1). Link with -lforeatm.
 *
 * Calls and meanings are those that the papers describe (notes in doc/atm.md); manual: fore_atm(3). Connections are
 * best effort: one call sends one packet (PDU), which arrives whole, in order, once, or not at all. Descriptors are
 * real: they poll, and are inherited closed on exec.
 *
 * All functions return -1 on failure, with the reason in atm_errno (and errno), whose values are those of errno(3).
 * Which network: PVM_ATM_SOCKET and PVM_ATM_HOST, see dpvm(7).
 */
#ifndef FORE_ATM_H
#define FORE_ATM_H

#include <poll.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ATM_MTU_SMALL 4092 /* what the drivers of the papers gave: AIX, SunOS */
#define ATM_MTU_LARGE 9188 /* HP-UX */

typedef u_int Atm_sap; /* application service access point: unique on a host; 0 in atm_bind(): any free one */

typedef struct Atm_address {
    char addr[8]; /* network service access point: the switch, and its port that the host is at; network byte order */
} Atm_address;

typedef struct Atm_endpoint {
    Atm_sap asap;
    Atm_address nsap;
} Atm_endpoint;

typedef struct Atm_info {
    int mtu; /* largest packet, bytes */
} Atm_info;

typedef enum Aal_type { aal_null = 0, aal_type_3 = 3, aal_type_4 = 4, aal_type_5 = 5 } Aal_type; /* 3 and 4 are one */

typedef enum Atm_dataflow {
    simplex,  /* from the one that connects to the one that accepts */
    duplex,   /* and back, by a second virtual circuit */
    multicast /* from the one that connects to all that accept */
} Atm_dataflow;

/* What one would like and what one needs at least; 0, 0: nothing is asked for. kbit/s; bursts in kbit. */
typedef struct Atm_range {
    u_int target, minimum;
} Atm_range;

typedef struct Atm_qos {
    Atm_range peak_bandwidth, mean_bandwidth, mean_burst;
} Atm_qos;

/* What the network gives. All 0: best effort, nothing is reserved. */
typedef struct Atm_qos_sel {
    u_int peak_bandwidth, mean_bandwidth, mean_burst;
} Atm_qos_sel;

/*
 * Opens a descriptor. `device` is "/dev/fa0" and the like, or NULL: the adapter of the program's host. Not in the
 * papers: any other name is that of a host of the network, for programs that play several (ENODEV: there is none).
 * `flags` as for open(2): O_NONBLOCK counts. The MTU is that of the host's adapter; info may be NULL. Close it with
 * atm_close().
 */
int atm_open(const char *device, int flags, Atm_info *info);

/*
 * Binds it to `asap` (0: any) and says which in *asap_ret (may be NULL). Up to qlen callers may wait for atm_listen()
 * of it; 0: it will connect and not listen. EADDRINUSE: somebody on this host has it.
 */
int atm_bind(int fd, Atm_sap asap, Atm_sap *asap_ret, int qlen);

/* Waits for a caller: its number, and who it is and what it asks for (each may be NULL). */
int atm_listen(int fd, int *conn_id, Atm_endpoint *calling, Atm_qos *qos, Aal_type *aal);

/*
 * Takes caller conn_id of the listening fd: fdnew, an open descriptor that is not connected, is its connection from now
 * on, of the same host (EXDEV). `dataflow` must be the caller's (EINVAL). *qos, NULL: as asked, may lower what the
 * caller asked for, not below the caller's minimum. ECONNABORTED: the caller has given up.
 */
int atm_accept(int fd, int fdnew, int conn_id, Atm_qos *qos, Atm_dataflow dataflow);

/* Sends caller conn_id away, who gets ECONNREFUSED. Not in the papers. */
int atm_reject(int fd, int conn_id);

/*
 * Connects a bound descriptor. *qos: what is asked for, NULL: best effort; *sel: what is given, may be NULL. Called
 * again on a multicast connection it adds a receiver. ECONNREFUSED: nobody listens there, or said no; ENOBUFS: the
 * bandwidth is not there; EHOSTUNREACH: no such host or no way to it.
 */
int atm_connect(int fd, Atm_endpoint *dest, Atm_qos *qos, Atm_qos_sel *sel, Aal_type aal, Atm_dataflow dataflow);

/* The address of a host of the network, by its name in the topology. ENOENT: there is none. */
int atm_gethostbyname(const char *hostname, Atm_address *dest);

/*
 * Sends one packet of 1 to MTU bytes. Waits for room in the adapter's queue where the host's driver does (see
 * atm-topology(5)). The number of bytes. EMSGSIZE: longer than the MTU; ENOTCONN; EOPNOTSUPP: it only receives.
 */
int atm_send(int fd, const char *buf, int len);

/*
 * The next packet; what does not fit into len bytes is lost. The number of bytes; 0: the peer has closed. EAGAIN: there
 * is none and fd does not block; EOPNOTSUPP: it only sends.
 */
int atm_recv(int fd, char *buf, int len);

/* Closes the descriptor, and its connection with all its circuits. */
int atm_close(int fd);

/* Prints "text: " and the reason of the last failure on standard error, as perror(3). */
void atm_error(const char *text);

/* Of the calling thread. */
int *atm_errno_location(void);
#define atm_errno (*atm_errno_location())

/* ---- the clock of the simulation: not in the papers; manual: atm_sim_time(3) ---- */

enum { ATM_CLOCK_REAL = 1, ATM_CLOCK_VIRTUAL = 2 };

/* Which clock the network has. Connects to it if need be. */
int atm_sim_clock(void);

/* The same without joining it: the network takes no notice of us. */
int atm_sim_look(void);

/* As atm_sim_time(), at no cost, and ENOTCONN if this process is not on a network in virtual time yet. */
int atm_sim_now(int64_t *now_ns);

/* Nanoseconds since the network started, as this process has come to live them. */
int atm_sim_time(int64_t *now_ns);

/*
 * The process computes for so long. In virtual time the clock goes on by that, whatever it really took; with the real
 * clock nothing happens.
 */
int atm_sim_cost(int64_t ns);

/* The address of this process's host. */
int atm_sim_address(Atm_address *own);

/* Leaves the network, if no descriptor is open; the next call joins it again. */
int atm_sim_leave(void);

/*
 * As poll(2), and virtual time passes until one is ready or timeout_ns (-1: none) is over. What is not of the network
 * must be of no interest, or be told of by atm_sim_wait() and atm_sim_resume().
 */
int atm_sim_poll(struct pollfd *fds, nfds_t count, int64_t timeout_ns);

/*
 * For event loops that wait for other things, too. atm_sim_wait() says that this process waits, until the time until_ns
 * of atm_sim_time() (-1: none) at the latest; then sleep on atm_sim_fd(), which is readable when the wait has ended,
 * and on what else there is. atm_sim_resume() ends the wait. 1: the network had ended it, 0: something else has.
 */
int atm_sim_wait(int64_t until_ns);
int atm_sim_resume(void);
int atm_sim_fd(void);

/*
 * For processes that talk to each other without the network, too, as PVM's tasks and daemons do: virtual time stands
 * still while bytes are under way between them, or one is about to come that was started. atm_sim_observe() is for a
 * process that only passes on, such as a daemon: it takes no part but in this. To be called first.
 * atm_sim_local(): as of now, so many bytes have been given to process pid and taken from it; both ends of a channel
 * must tell, before they wait. taken = UINT64_MAX: its end has been seen. atm_sim_expect(): process pid was started and
 * will join.
 */
int atm_sim_observe(void);
int atm_sim_local(pid_t pid, uint64_t given, uint64_t taken);
int atm_sim_expect(pid_t pid);

/*
 * Virtual time only, for a program that is given bytes by one observing process pid (0: none), as a task is by its
 * daemon. atm_sim_sleep(): atm_sim_local(), and then sleeps until the network has something for us, we have been given
 * more than we have taken, or it is until_ns (-1: never); programs that sleep so are woken one at a time. 1: bytes are
 * there, or about to be, that we have not taken; 0. atm_sim_catch_up(): waits until what we have computed has passed:
 * to be called before something is given. atm_sim_knows(): 0 if process pid observes; ESRCH. Like atm_sim_local() and
 * atm_sim_expect() they cost nothing.
 */
int atm_sim_sleep(int64_t until_ns, pid_t pid, uint64_t given, uint64_t taken);
int atm_sim_catch_up(void);
int atm_sim_knows(pid_t pid);

#ifdef __cplusplus
}
#endif

#endif
