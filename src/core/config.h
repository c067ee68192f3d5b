/*
 * config.h - every setting of dpvm in one table: environment variables with their defaults, units and meanings.
 *
 * To add a setting, add a row: pvm-info -c prints the table, dpvm(7) is generated from it, and an environment variable
 * PVM_* without a row causes one warning.
 */
#ifndef PVMC_CONFIG_H
#define PVMC_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pvmc_setting_kind {
    PVMC_KIND_TEXT,
    PVMC_KIND_PATH,
    PVMC_KIND_BOOL,    /* 0/1, no/yes, off/on */
    PVMC_KIND_INTEGER, /* decimal, or 0x hexadecimal */
    PVMC_KIND_BYTES,   /* 4096, 64k, 16M, 1G */
    PVMC_KIND_SECONDS, /* 15, 0.5, 200ms, 50us */
    PVMC_KIND_FACTOR,  /* 3000, 12.5, 0.001; at most six digits after the point count */
    PVMC_KIND_NAME,    /* part of file names: no slash, blank or control character */
    PVMC_KIND_LEVEL,   /* error, warning, info, debug: enum pvmc_log_level */
};

/*
 * X(identifier, environment variable, kind, default, minimum, maximum, help)
 * Defaults are written as a user would set them; "" means not set. Minimum and maximum are in base units (bytes;
 * microseconds for SECONDS, millionths for FACTOR); 0, 0 means any value, a maximum below the minimum means no upper
 * limit.
 *
 * Carried settings apply to a whole program: a spawned task takes them from its parent's environment, on every host.
 * What the parent does not set comes from the task's daemon; the daemon of an added host takes it from the first
 * daemon.
 */
#define PVMC_CARRIED_SETTINGS(X)                                                                                       \
    X(TRANSPORT, "PVM_TRANSPORT", TEXT, "auto", 0, 0,                                                                  \
      "routes between tasks: auto, daemon, or a list such as shm,tcp; ^name excludes a transport")                     \
    X(LINKS_MAX, "PVM_LINKS_MAX", INTEGER, "256", 0, 65536,                                                            \
      "most direct links of a task; other messages go by the daemons")                                                 \
    X(LINK_FRAMES, "PVM_LINK_FRAMES", INTEGER, "4", 1, 0,                                                              \
      "frames sent to a task before a direct link to it is opened (PvmAllowDirect); see dpvm-transports(7)")           \
    X(SHM_RING, "PVM_SHM_RING", BYTES, "512k", 16384, 16777216, "ring size of a shared-memory link, per direction")    \
    X(SHM_PENDING, "PVM_SHM_PENDING", BYTES, "256M", 65536, 0,                                                         \
      "most bytes sent to one task by reference and not yet received; beyond that senders wait")                       \
    X(INBOX_WARN, "PVM_INBOX_WARN", BYTES, "1G", 0, 0,                                                                 \
      "bytes of messages waiting in a task at which it logs a warning, and when they have doubled; 0: never")          \
    X(TCP_NODELAY, "PVM_TCP_NODELAY", BOOL, "1", 0, 0, "set TCP_NODELAY on direct TCP links")                          \
    X(TCP_SNDBUF, "PVM_TCP_SNDBUF", BYTES, "0", 0, 1073741824, "send buffer of direct TCP links; 0: system default")   \
    X(TCP_RCVBUF, "PVM_TCP_RCVBUF", BYTES, "0", 0, 1073741824,                                                         \
      "receive buffer of direct TCP links; 0: system default")                                                         \
    X(TCP_CONGESTION, "PVM_TCP_CONGESTION", TEXT, "auto", 0, 0,                                                        \
      "congestion control of direct TCP links, such as cubic; system: its default; auto: the same, but Reno within "   \
      "a host, and instead of BBR where a round trip takes less than 100 us")                                          \
    X(TCP_PORTS, "PVM_TCP_PORTS", TEXT, "", 0, 0,                                                                      \
      "ports that direct TCP links listen on, such as 4000-4100; default: any")                                        \
    X(TCP_IF, "PVM_TCP_IF", TEXT, "", 0, 0,                                                                            \
      "comma-separated interfaces or addresses for direct TCP links; default: all")                                    \
    X(TCP_TLS, "PVM_TCP_TLS", TEXT, "auto", 0, 0, "encrypt direct TCP links: auto (between hosts), 1 (all), 0 (none)") \
    X(TCP_PLAIN, "PVM_TCP_PLAIN", TEXT, "", 0, 0,                                                                      \
      "trusted networks, such as 10.1.0.0/16,fd00::/8; PVM_TCP_TLS=auto does not encrypt links within them")           \
    X(TCP_TIMEOUT, "PVM_TCP_TIMEOUT", SECONDS, "3", 10000, 0, "time limit for connecting a direct TCP link")           \
    X(ATM_SOCKET, "PVM_ATM_SOCKET", PATH, "", 0, 0,                                                                    \
      "socket of the simulated ATM network (atm-sim serve); default: one per user in PVM_TMP")                         \
    X(ATM_TOPOLOGY, "PVM_ATM_TOPOLOGY", PATH, "", 0, 0,                                                                \
      "topology file for atm-sim serve when its command line names none; see atm-topology(5)")                         \
    X(ATM_CLOCK, "PVM_ATM_CLOCK", TEXT, "real", 0, 0, "clock of atm-sim serve: real, virtual")                         \
    X(ATM_AAL, "PVM_ATM_AAL", INTEGER, "5", 3, 5,                                                                      \
      "adaptation layer of direct ATM links: 5 (AAL5), or 3 or 4 (AAL3/4)")                                            \
    X(ATM_PROTOCOL, "PVM_ATM_PROTOCOL", TEXT, "native", 0, 0,                                                          \
      "protocol of direct ATM links: native (packets, acknowledged by the tasks), sscop, pcaal-1, pcaal-n, "           \
      "ece-switching, ece-duplicating; see atm_assure(3)")                                                             \
    X(ATM_MTU, "PVM_ATM_MTU", BYTES, "0", 0, 65535, "largest packet of direct ATM links; 0: the adapter's maximum")    \
    X(ATM_CPU, "PVM_ATM_CPU", FACTOR, "1", 0, 1000000000000,                                                           \
      "factor from measured CPU time to virtual time, such as 3000 or 12.5; 0: only declared costs count")             \
    X(ATM_CALL_COST, "PVM_ATM_CALL_COST", SECONDS, "0", 0, 0, "virtual time per call of the Fore API")                 \
    X(DP_LINK_IF, "PVM_DP_IF", TEXT, "", 0, 0,                                                                         \
      "comma-separated interfaces for dp links; default: the first five that are up, including lo")                    \
    X(DP_LINK_ETHERTYPE, "PVM_DP_ETHERTYPE", INTEGER, "0x88b5", 0x600, 0xffff, "EtherType of dp frames")               \
    X(DP_LINK_TIMEOUT, "PVM_DP_TIMEOUT", SECONDS, "3", 10000, 0,                                                       \
      "time limit for the two ends of a dp link to reach each other")                                                  \
    X(RDMA_DEVICE, "PVM_RDMA_DEVICE", TEXT, "", 0, 0,                                                                  \
      "RDMA device for direct links, such as rxe0; default: the best one")                                             \
    X(RDMA_PORT, "PVM_RDMA_PORT", INTEGER, "0", 0, 255, "port of the RDMA device, from 1; 0: the best one")            \
    X(RDMA_GID_INDEX, "PVM_RDMA_GID_INDEX", INTEGER, "-1", -1, 255,                                                    \
      "index of the port's GID; -1: that of PVM_IP if there is one, else the best")                                    \
    X(RDMA_MTU, "PVM_RDMA_MTU", BYTES, "0", 0, 4096, "largest packet of an RDMA link; 0: the port's MTU")              \
    X(RDMA_EAGER, "PVM_RDMA_EAGER", BYTES, "8k", 256, 65536,                                                           \
      "largest frame that is sent eagerly; the receiver reads larger ones (rendezvous)")                               \
    X(RDMA_INPLACE, "PVM_RDMA_INPLACE", BYTES, "512k", 4096, 0,                                                        \
      "smallest in-place data that is registered with the device; smaller data is copied")                             \
    X(RDMA_CACHE, "PVM_RDMA_CACHE", BYTES, "64M", 1048576, 0,                                                          \
      "most message memory that stays registered with the device")                                                     \
    X(RDMA_TIMEOUT, "PVM_RDMA_TIMEOUT", SECONDS, "30", 1000000, 0,                                                     \
      "how long a task that has joined an RDMA link waits for its peer to poll")                                       \
    X(OFI_PROVIDER, "PVM_OFI_PROVIDER", TEXT, "", 0, 0,                                                                \
      "libfabric's provider for direct ofi links, such as efa or tcp; default: the best one")                          \
    X(FAULT, "PVM_FAULT", TEXT, "", 0, 0,                                                                              \
      "for tests: faults of direct links, daemons and the group server, such as seed=7,cut=0.1%,link.write=error/3; "  \
      "see dpvm-transports(7)")                                                                                        \
    X(TRACE_FILE, "PVM_TRACE", PATH, "", 0, 0,                                                                         \
      "file to which the calls and messages of a program are traced; see pvm-trace(1)")                                \
    X(THREADS, "PVM_THREADS", BOOL, "0", 0, 0, "give each thread of a task its own active buffers and context")        \
    X(SPIN, "PVM_SPIN", INTEGER, "-1", 0, 0, "microseconds that a waiting task polls before it sleeps; -1: adaptive")  \
    X(WRAP, "PVM_WRAP", TEXT, "", 0, 0, "command, with arguments, that spawned tasks run under, such as valgrind -q")  \
    X(LIBRARIES, "PVM_LIBRARIES", TEXT, "path", 0, 0,                                                                  \
      "how spawned tasks find this dpvm's libraries: path (LD_LIBRARY_PATH), preload (also LD_PRELOAD), none")

#define PVMC_SETTINGS(X)                                                                                               \
    X(ROOT, "PVM_ROOT", PATH, "", 0, 0, "where PVM is installed; default: the installation of this program")           \
    X(ARCH, "PVM_ARCH", NAME, "", 0, 0, "architecture name; default: this machine's, as pvmgetarch prints it")         \
    X(TMP, "PVM_TMP", PATH, "/tmp", 0, 0, "directory of the daemon's socket, address file and log")                    \
    X(VMID, "PVM_VMID", NAME, "", 0, 0,                                                                                \
      "name of the virtual machine, for a user who runs several on one host; default: the job, such as slurm.4711")    \
    X(SCHEDULER, "PVM_SCHEDULER", TEXT, "auto", 0, 0,                                                                  \
      "batch system whose job gives a new machine its hosts: auto, slurm, pbs, lsf, none")                             \
    X(RSH, "PVM_RSH", TEXT, "", 0, 0, "command, with arguments, that starts a daemon on another host; default: ssh")   \
    X(PATH, "PVM_PATH", TEXT, "", 0, 0,                                                                                \
      "search path for spawned programs; default: "                                                                    \
      "$HOME/pvm3/bin/$PVM_ARCH:$PVM_ROOT/bin/$PVM_ARCH:/usr/lib/pvm3/bin/$PVM_ARCH")                                  \
    X(WD, "PVM_WD", PATH, "", 0, 0, "working directory of spawned tasks; default: $HOME")                              \
    X(DEBUGGER, "PVM_DEBUGGER", PATH, "", 0, 0, "script that starts a task under a debugger")                          \
    X(DPATH, "PVM_DPATH", TEXT, "", 0, 0, "path of the daemon on added hosts; default: pvmd3 beside this one")         \
    X(HOSTFILE, "PVMHOSTFILE", PATH, "", 0, 0, "hostfile for the daemon when its command line names none")             \
    X(LOG_TO, "PVM_LOG_TO", TEXT, "file", 0, 0,                                                                        \
      "where the daemon logs: file (in PVM_TMP), stderr, or journal, the systemd journal; see pvmd3(1)")               \
    X(LOG_MAX, "PVMDLOGMAX", BYTES, "1M", 0, 0,                                                                        \
      "size at which the daemon's log file is renamed to NAME.old; 0: no log in a file")                               \
    X(METRICS, "PVM_METRICS", TEXT, "", 0, 0,                                                                          \
      "port, or address and port, where the daemon serves metrics over HTTP; empty: nowhere")                          \
    X(DEBUG_MASK, "PVMDDEBUG", INTEGER, "0", 0, 0, "debug mask of the daemon")                                         \
    X(MAX_TASKS, "PVM_MAX_TASKS", INTEGER, "0", 0, 0, "most tasks on one host; 0: no limit")                           \
    X(SLOTS, "PVM_SLOTS", INTEGER, "-1", -1, 262144,                                                                   \
      "slots of this host: how many tasks it wants; 0: none that can run elsewhere; -1: its processors; see "          \
      "hostfile(5)")                                                                                                   \
    X(PORT, "PVMNETSOCKPORT", INTEGER, "0", 0, 65535, "first TCP port that the daemon tries; 0: any free port")        \
    X(ALLOW_ROOT, "PVM_ALLOW_ROOT", BOOL, "0", 0, 0, "allow root to start a daemon")                                   \
    X(SOCK, "PVMSOCK", PATH, "", 0, 0, "socket of the task's daemon; set for spawned tasks")                           \
    X(COOKIE, "PVMEPID", INTEGER, "0", 0, 0, "identifies a spawned process to its daemon; set by the daemon")          \
    X(TASK_FLAGS, "PVMTASK", INTEGER, "0", 0, 0, "flags added to those of each pvm_spawn")                             \
    X(TASK_DEBUG, "PVMTASKDEBUG", INTEGER, "0", 0, 0, "debug mask of a task")                                          \
    X(EXPORT, "PVM_EXPORT", TEXT, "", 0, 0, "colon-separated list of variables that spawned tasks inherit")            \
    X(CONTEXT, "PVMCTX", INTEGER, "0", 0, 0, "first context of a task; set for spawned tasks")                         \
    X(TRACE_MASK, "PVMTMASK", TEXT, "", 0, 0, "trace mask; set for spawned tasks")                                     \
    X(TRACE_BUFFER, "PVMTRCBUF", INTEGER, "0", 0, 0, "trace buffer in bytes; set for spawned tasks")                   \
    X(TRACE_OPTIONS, "PVMTRCOPT", INTEGER, "0", 0, 0, "trace options; set for spawned tasks")                          \
    X(RM_COMMAND, "PVM_RM", TEXT, "", 0, 0, "resource manager that the daemon starts when it starts")                  \
    X(HOSTER_COMMAND, "PVM_HOSTER", TEXT, "", 0, 0, "hoster that the daemon starts when it starts")                    \
    X(TASKER_COMMAND, "PVM_TASKER", TEXT, "", 0, 0, "tasker that the daemon starts when it starts")                    \
    X(TRACER_COMMAND, "PVM_TRACER", TEXT, "", 0, 0, "tracer that the daemon starts when it starts")                    \
    PVMC_CARRIED_SETTINGS(X)                                                                                           \
    X(DP_SOCKET, "PVM_DP_SOCKET", PATH, "", 0, 0,                                                                      \
      "program that opens raw sockets for unprivileged users; default: dp-socket of this installation")                \
    X(LAUNCHER, "PVM_LAUNCHER", TEXT, "auto", 0, 0,                                                                    \
      "how daemons start on added hosts: auto (local for loopback names, PVM_RSH if set, else ssh), local, ssh, rsh, " \
      "manual")                                                                                                        \
    X(LAUNCH_FANOUT, "PVM_LAUNCH_FANOUT", INTEGER, "16", 1, 1024,                                                      \
      "most hosts that one daemon starts at the same time")                                                            \
    X(LAUNCH_TREE, "PVM_LAUNCH_TREE", BOOL, "1", 0, 0,                                                                 \
      "when many hosts are added by ssh or PVM_RSH, those that are up help the first daemon to start the others")      \
    X(ATM_POLL, "PVM_ATM_POLL", SECONDS, "0.5", 100, 0,                                                                \
      "atm-sim serve: time between polls of an assured connection with unacknowledged data (T_POLL)")                  \
    X(ATM_WINDOW, "PVM_ATM_WINDOW", BYTES, "4M", 1024, 64 << 20,                                                       \
      "atm-sim serve: bytes that an assured connection takes before they are acknowledged")                            \
    X(ATM_HOST, "PVM_ATM_HOST", TEXT, "", 0, 0,                                                                        \
      "host of the simulated ATM network for this task or daemon; default: the one with the fewest programs")          \
    X(ATM_PATIENCE, "PVM_ATM_PATIENCE", SECONDS, "60", 1000000, 0,                                                     \
      "silence after which atm-sim serve disconnects a program that holds up virtual time")                            \
    X(IP, "PVM_IP", TEXT, "", 0, 0, "address that this host's daemon listens on; default: all")                        \
    X(START_TIMEOUT, "PVM_START_TIMEOUT", SECONDS, "30", 100000, 0,                                                    \
      "time limit for the daemon of an added host to join; again that long if a member could not start it")            \
    X(HOST_TIMEOUT, "PVM_HOST_TIMEOUT", SECONDS, "15", 500000, 0, "silence after which a host counts as failed")       \
    X(LINK_IDLE, "PVM_LINK_IDLE", SECONDS, "60", 0, 0,                                                                 \
      "time after which two slaves close a connection that they do not use; 0: never")                                 \
    X(JOIN_TIMEOUT, "PVM_JOIN_TIMEOUT", SECONDS, "300", 0, 0,                                                          \
      "how long pvmd3 --join tries to reach the machine; 0: without limit")                                            \
    X(REJOIN_TIMEOUT, "PVM_REJOIN_TIMEOUT", SECONDS, "600", 0, 0,                                                      \
      "how long a daemon that joined by itself tries to come back when it has lost the machine, and may")              \
    X(FAILOVER, "PVM_FAILOVER", TEXT, "majority", 0, 0,                                                                \
      "when the master is lost, another host becomes the master if more than half of the hosts agree (majority), or "  \
      "half of them (half: for two hosts; if only the network fails, both go on); no: the machine ends")               \
    X(END_TIMEOUT, "PVM_END_TIMEOUT", SECONDS, "2", 0, 0,                                                              \
      "time between SIGTERM and SIGKILL for the processes of tasks when their daemon has ended")                       \
    X(LEAVE_TIMEOUT, "PVM_LEAVE_TIMEOUT", SECONDS, "25", 0, 0,                                                         \
      "how long a host that leaves (SIGTERM, pvmd3 --leave) waits for its tasks before it sends them SIGTERM")         \
    X(QUEUE_MAX, "PVM_QUEUE_MAX", BYTES, "8M", 65536, 0,                                                               \
      "bytes that a daemon queues for one receiver before senders wait")                                               \
    X(DP_NID, "DP_NID", INTEGER, "0", 0, 65534,                                                                        \
      "libdp: id of this node; 0: from the node table, else derived from the interface's address")                     \
    X(DP_NART, "DP_NART", PATH, "", 0, 0, "libdp: node table; default: /etc/dpvm/nart, if it exists")                  \
    X(DP_INTERFACE, "DP_INTERFACE", NAME, "", 0, 0, "libdp: network interface; default: the first Ethernet interface") \
    X(DP_TIMEOUT, "DP_TIMEOUT", SECONDS, "30", 100000, 0,                                                              \
      "libdp: silence after which a peer of a reliable channel counts as dead")                                        \
    X(DP_ETHERTYPE, "DP_ETHERTYPE", INTEGER, "0x88b5", 0x600, 65535, "libdp: EtherType of frames")                     \
    X(LOG, "PVM_LOG", LEVEL, "warning", 0, 0, "log level of tasks and tools on stderr: error, warning, info, debug")

enum pvmc_setting {
#define X(id, ...) PVMC_SETTING_##id,
    PVMC_SETTINGS(X)
#undef X
        PVMC_SETTING_COUNT
};

struct pvmc_setting_row {
    const char *name; /* environment variable */
    enum pvmc_setting_kind kind;
    const char *fallback; /* default text */
    int64_t minimum, maximum;
    const char *help;
};

extern const struct pvmc_setting_row pvmc_setting_table[PVMC_SETTING_COUNT];

#define X(...) +1
enum { PVMC_CARRIED_COUNT = 0 PVMC_CARRIED_SETTINGS(X) };
#undef X

extern const enum pvmc_setting pvmc_setting_carried[PVMC_CARRIED_COUNT];

/*
 * The value in the environment, or the default, which also replaces a malformed or out-of-range value. The error is
 * logged once, with the variable, its value and what would be valid. Each call reads the environment again, so setenv()
 * takes effect.
 */
const char *pvmc_config_text(enum pvmc_setting which); /* valid until the variable changes; "" when not set */
bool pvmc_config_bool(enum pvmc_setting which);
int64_t pvmc_config_integer(enum pvmc_setting which); /* also BYTES, in bytes, and LEVEL, as enum pvmc_log_level */
int64_t pvmc_config_us(enum pvmc_setting which);      /* SECONDS: in microseconds */

/* "environment", or "default" when the variable is not set, empty or malformed. */
const char *pvmc_config_origin(enum pvmc_setting which);

/* Checks a text against a row without logging: 0, or PVMC_EPARAM with a message in why[size] that says what is valid.
 */
int pvmc_config_check(enum pvmc_setting which, const char *text, char *why, size_t size);

/*
 * Whether a variable, given as NAME or NAME=value, is a PVM_* without a row; why[size] then says so and suggests the
 * nearest known name.
 */
bool pvmc_config_unknown(const char *variable, char *why, size_t size);

/*
 * Warns, once per process, about each environment variable PVM_* without a row, and suggests the nearest known name.
 * Called when a program starts, after pvmc_log_to().
 */
void pvmc_config_warn_unknown(void);

/*
 * $PVM_ROOT; else the folder pvm3 of the installation prefix or build tree that contains this library or program; else
 * that of the prefix dpvm was configured with. Static storage.
 */
const char *pvmc_config_root(void);

/* The folder pvm3 for a library or program `file` (absolute path), found as above: 0 or PVMC_ENOTFOUND. */
int pvmc_config_root_of(const char *file, char *root, size_t size);

/*
 * Path of a file of the daemon of this user and PVM_VMID: "$PVM_TMP/<stem>.<uid>[.<vmid>]". 0; PVMC_ELIMIT when the
 * path is too long; PVMC_EPARAM when PVM_VMID is malformed, since the default would name another virtual machine. Both
 * errors are logged.
 */
int pvmc_config_daemon_file(const char *stem, char *path, size_t size);

#endif
