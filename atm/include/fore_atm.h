/*
 * fore_atm.h - the ATM interface of Fore Systems, over the simulated network of atm-sim(1). Link with -lforeatm.
 *
 * The calls follow the papers' descriptions (notes in atm/doc/atm.md); manual: fore_atm(3). Connections are best
 * effort: one call sends one packet (PDU), which arrives whole, in order, once, or not at all. Descriptors are real:
 * poll(2) works on them, and they are closed on exec.
 *
 * All functions return -1 on failure, with the reason in atm_errno (and errno), whose values are those of errno(3).
 * PVM_ATM_SOCKET and PVM_ATM_HOST select the network and the host, see dpvm(7).
 */
#ifndef FORE_ATM_H
#define FORE_ATM_H

#include <poll.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ATM_MTU_SMALL 4092 /* of the papers' drivers for AIX and SunOS */
#define ATM_MTU_LARGE 9188 /* HP-UX */

typedef u_int Atm_sap; /* application service access point: unique on a host; 0 in atm_bind(): any free one */

typedef struct Atm_address {
    char addr[8]; /* network service access point: the host's switch and its port there; network byte order */
} Atm_address;

typedef struct Atm_endpoint {
    Atm_sap asap;
    Atm_address nsap;
} Atm_endpoint;

typedef struct Atm_info {
    int mtu; /* largest packet, bytes */
} Atm_info;

/* Types 3 and 4 are the same layer, AAL3/4. */
typedef enum Aal_type { aal_null = 0, aal_type_3 = 3, aal_type_4 = 4, aal_type_5 = 5 } Aal_type;

typedef enum Atm_dataflow {
    simplex,  /* from the connecting to the accepting side */
    duplex,   /* both ways, by a second virtual circuit */
    multicast /* from the connecting side to all accepting ones */
} Atm_dataflow;

/* The requested and the least acceptable value; 0, 0 requests nothing. In kbit/s; bursts in kbit. */
typedef struct Atm_range {
    u_int target, minimum;
} Atm_range;

typedef struct Atm_qos {
    Atm_range peak_bandwidth, mean_bandwidth, mean_burst;
} Atm_qos;

/* The granted values. All 0: best effort, nothing is reserved. */
typedef struct Atm_qos_sel {
    u_int peak_bandwidth, mean_bandwidth, mean_burst;
} Atm_qos_sel;

/*
 * Protocols that carry data on a duplex connection. atm_native: packets of an AAL, best effort. The others lose nothing
 * and keep no packets: they are a stream of bytes. SSCOP over AAL5; PC-AAL with one item or with several in a cell; and
 * PC-AAL with a second circuit (ECE). Not in the papers of the interface but in the thesis, see atm_assure(3).
 */
typedef enum Atm_protocol {
    atm_native,
    atm_sscop,
    atm_pcaal_1,
    atm_pcaal_n,
    atm_ece_switching,
    atm_ece_duplicating
} Atm_protocol;

#define ATM_ITEM_MAX 28 /* bytes of an item, see atm_item() */

/*
 * Opens a descriptor. `device` is "/dev/fa0" or the like, or NULL: the adapter of the program's host. Not in the
 * papers: any other name selects a host of the network, for programs on several hosts (ENODEV: there is none). `flags`
 * are those of open(2), of which only O_NONBLOCK is used. Stores the MTU of the host's adapter; info may be NULL. Close
 * the descriptor with atm_close().
 */
int atm_open(const char *device, int flags, Atm_info *info);

/*
 * Binds a descriptor to `asap` (0: any) and stores it in *asap_ret (may be NULL). Up to qlen callers may wait for
 * atm_listen(); 0: the descriptor will connect, not listen. EADDRINUSE: the asap is taken on this host.
 */
int atm_bind(int fd, Atm_sap asap, Atm_sap *asap_ret, int qlen);

/*
 * Chooses the protocol of a descriptor's connection, or of all connections that a listening one will get (then call it
 * before atm_bind(), after which callers may come). Manual: atm_assure(3). Both sides must have chosen the same:
 * otherwise atm_connect() fails with EPROTOTYPE, and the listener sees no caller. Such a connection is duplex. EINVAL:
 * fd is connected already, or callers wait there; EPROTONOSUPPORT: no such protocol; ENOBUFS: the program has too many
 * such descriptors.
 */
int atm_assure(int fd, Atm_protocol protocol);

/*
 * What is sent from now on consists of items of 1 to ATM_ITEM_MAX bytes (at first 1): PC-AAL puts whole items into a
 * cell; ECE divides those of more than 25. SSCOP ignores it. EOPNOTSUPP: fd has not been assured.
 */
int atm_item(int fd, u_int bytes);

/*
 * The descriptor of an assured connection becomes readable, and wakes an atm_recv() that waits, when at least so many
 * bytes have arrived (at first 1; at most 1/64 of the protocol's window counts), or none will follow. A program that
 * knows how much it needs is woken once instead of for each cell. EOPNOTSUPP: fd has not been assured.
 */
int atm_low_water(int fd, u_int bytes);

/* Waits for a caller. Stores its number, its address, and the QoS and AAL it requests (each may be NULL). */
int atm_listen(int fd, int *conn_id, Atm_endpoint *calling, Atm_qos *qos, Aal_type *aal);

/*
 * Accepts caller conn_id of the listening fd. fdnew, an open descriptor of the same host (else EXDEV) that is not
 * connected, becomes its connection. `dataflow` must be the caller's (EINVAL). *qos may lower the requested values, but
 * not below the caller's minimum; NULL: as requested. ECONNABORTED: the caller has given up.
 */
int atm_accept(int fd, int fdnew, int conn_id, Atm_qos *qos, Atm_dataflow dataflow);

/* Refuses caller conn_id, which gets ECONNREFUSED. Not in the papers. */
int atm_reject(int fd, int conn_id);

/*
 * Connects a bound descriptor. *qos: the requested values, NULL: best effort; *sel: the granted values, may be NULL.
 * Another call on a multicast connection adds a receiver. ECONNREFUSED: there is no listener, or it refused; ENOBUFS:
 * the bandwidth is not available; EHOSTUNREACH: no such host, or no path to it.
 */
int atm_connect(int fd, Atm_endpoint *dest, Atm_qos *qos, Atm_qos_sel *sel, Aal_type aal, Atm_dataflow dataflow);

/* Finds the address of a host by its name in the topology. ENOENT: there is none. */
int atm_gethostbyname(const char *hostname, Atm_address *dest);

/*
 * Sends one packet of 1 to MTU bytes. Waits for room in the adapter's queue if the host's driver does (see
 * atm-topology(5)). Returns the number of bytes. EMSGSIZE: longer than the MTU; ENOTCONN; EOPNOTSUPP: receives only.
 * On an assured connection: the next 1 to 1 MiB bytes of the stream. Waits until the protocol has taken all of them; if
 * fd does not block, takes what its window has room for, whole items, and returns their number (EAGAIN: none; fd
 * becomes readable when there is room again). EPIPE: the peer has closed, or the connection was lost.
 */
int atm_send(int fd, const char *buf, int len);

/*
 * Receives the next packet; bytes beyond len are lost. Returns the number of bytes; 0: the peer has closed. EAGAIN:
 * there is none and fd does not block; EOPNOTSUPP: sends only. On an assured connection: the next bytes of the stream,
 * as soon as they and all before them have arrived. ECONNRESET: the connection was lost, and so may be what the peer
 * had sent.
 */
int atm_recv(int fd, char *buf, int len);

/* Closes the descriptor, and its connection with all its circuits. */
int atm_close(int fd);

/* Prints "text: " and the reason of the last failure on standard error, like perror(3). */
void atm_error(const char *text);

/* The error number of the calling thread. */
int *atm_errno_location(void);
#define atm_errno (*atm_errno_location())

/* ---- the clock of the simulation: not in the papers; manual: atm_sim_time(3) ---- */

enum { ATM_CLOCK_REAL = 1, ATM_CLOCK_VIRTUAL = 2 };

/* Returns the kind of the network's clock. Connects if necessary. */
int atm_sim_clock(void);

/* The same without joining the network. */
int atm_sim_look(void);

/*
 * Like atm_sim_time(), but costs no virtual time, except that after 100 such calls of the program without another one
 * each further call costs 1 us. ENOTCONN: this process is not on a network in virtual time yet.
 */
int atm_sim_now(int64_t *now_ns);

/* Stores the process's own time, in nanoseconds since the network started. */
int atm_sim_time(int64_t *now_ns);

/*
 * Declares computing time of the process. In virtual time its clock advances by that, independently of the real
 * duration; with the real clock the call does nothing.
 */
int atm_sim_cost(int64_t ns);

/* Stores the address of this process's host. */
int atm_sim_address(Atm_address *own);

/* Leaves the network if no descriptor is open; the next call joins it again. */
int atm_sim_leave(void);

/*
 * Like poll(2), while virtual time passes until a descriptor is ready or timeout_ns (-1: none) has passed. Descriptors
 * outside the network must not wake it; use atm_sim_wait() and atm_sim_resume() for them.
 */
int atm_sim_poll(struct pollfd *fds, nfds_t count, int64_t timeout_ns);

/*
 * For event loops with other descriptors. atm_sim_wait() announces that this process waits, at most until the time
 * until_ns of atm_sim_time() (-1: none). Then sleep on atm_sim_fd(), which is readable when the wait has ended, and on
 * the other descriptors. atm_sim_resume() ends the wait. It returns 1 if the network had ended it, else 0.
 */
int atm_sim_wait(int64_t until_ns);
int atm_sim_resume(void);
int atm_sim_fd(void);

/*
 * For processes that also communicate outside the network, like PVM's tasks and daemons. Virtual time stands still
 * while bytes are in flight between them, or a started process has not joined yet. atm_sim_observe(): this process only
 * forwards, like a daemon, and uses nothing else of the network. Call it first. atm_sim_local(): the number of bytes
 * given to process pid and taken from it so far; both ends of a channel must report it before they wait. taken =
 * UINT64_MAX: this process has seen the end of the channel. atm_sim_expect(): process pid was started and will join.
 */
int atm_sim_observe(void);
int atm_sim_local(pid_t pid, uint64_t given, uint64_t taken);
int atm_sim_expect(pid_t pid);

/*
 * Virtual time only, for a program that gets bytes from one observing process pid (0: none), as a task does from its
 * daemon. atm_sim_sleep(): like atm_sim_local(), then sleeps until something arrives from the network, there are bytes
 * given and not taken, or the time is until_ns (-1: never); sleeping programs are woken one at a time. Returns 1 if
 * there are such bytes, else 0. atm_sim_catch_up(): waits until the network has reached this process's time; call it
 * before giving bytes. atm_sim_knows(): 0 if process pid observes; ESRCH. Like atm_sim_local() and atm_sim_expect(),
 * these calls cost no virtual time.
 */
int atm_sim_sleep(int64_t until_ns, pid_t pid, uint64_t given, uint64_t taken);
int atm_sim_catch_up(void);
int atm_sim_knows(pid_t pid);

/*
 * For a library between the program and this one, like PVM's, which brackets its own calls by the first two. Its
 * processor time does not count as the program's. What the program computes is debt: time that atm_sim_sleep() passes,
 * so that the library can handle what arrives meanwhile, as a host's kernel does. atm_sim_sleep() then ends when
 * nothing is left of the debt (atm_sim_debt(), ns), or earlier. Between the brackets atm_sim_time() is the time without
 * it. atm_sim_on_pass(): what lets the debt pass when the program itself sleeps (atm_sim_poll() without descriptors).
 */
void atm_sim_enter_library(void);
void atm_sim_leave_library(void);
int64_t atm_sim_debt(void);
void atm_sim_on_pass(void (*pass)(void));

/*
 * Virtual time only, for PVM: messages that pass through processes outside the network, and what they would have cost
 * on it. atm_sim_task(): this program is the task of that number. atm_sim_carry(): it sends a message of that many
 * bytes to the given tasks; `number` is what the receiver knows the message by. The network lets it cross as PVM's
 * daemons would have carried it. ESRCH: no receiver is on the network, and nothing is carried; EINVAL: count is 0
 * or above ATM_SIM_ENDS_MAX, bytes are more than 1 MiB, a receiver is named twice, there was no atm_sim_task(), or the
 * clock is real. atm_sim_under_way(): lists at most max messages that are on their way to this program, with their
 * senders, and returns their number. The first ones are left out: a list of more than max is read in parts, of which
 * the last one has fewer, with no other call in between. All others have arrived. *handing: how many messages this
 * program has not yet handed over completely. After a change of either, waits of this program end. The three calls cost
 * no virtual time.
 */
#define ATM_SIM_ENDS_MAX 8190 /* receivers of one message; messages in one list */

struct atm_sim_end {
    uint32_t task, number;
};

int atm_sim_task(unsigned int task);
int atm_sim_carry(const struct atm_sim_end *to, unsigned int count, uint64_t bytes);
int atm_sim_under_way(unsigned int first, struct atm_sim_end *list, unsigned int max, int *handing);

#ifdef __cplusplus
}
#endif

#endif
