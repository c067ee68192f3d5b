/*
 * config.h - every setting of dpvm, in one table: environment variables with their defaults, units and meaning.
 *
 * The row is all there is to add: pvm-info -c prints the table, dpvm(7) is made from it, and an environment variable
 * PVM_* that no row names is warned about once.
 */
#ifndef PVMI_CONFIG_H
#define PVMI_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pvmi_setting_kind {
    PVMI_KIND_TEXT,
    PVMI_KIND_PATH,
    PVMI_KIND_BOOL,    /* 0/1, no/yes, off/on */
    PVMI_KIND_INTEGER, /* decimal, or 0x hexadecimal */
    PVMI_KIND_BYTES,   /* 4096, 64k, 16M, 1G */
    PVMI_KIND_SECONDS, /* 15, 0.5, 200ms, 50us */
    PVMI_KIND_NAME,    /* part of file names: no slash, blank or control character */
    PVMI_KIND_LEVEL,   /* error, warning, info, debug: enum pvmi_log_level */
};

/*
 * X(identifier, environment variable, kind, default, minimum, maximum, help)
 * Defaults are texts as a user would set them; "" is "not set". Minimum and maximum are in plain units (bytes, and
 * microseconds for SECONDS); 0, 0 leaves the range free, a maximum below the minimum leaves it open upwards.
 *
 * Carried settings are those that make sense for a whole program: spawned tasks, on every host, take them from their
 * parent's environment; those that it does not set are as the daemons have them, and added hosts' daemons have them
 * from the first.
 */
#define PVMI_CARRIED_SETTINGS(X)                                                                                       \
    X(TRANSPORT, "PVM_TRANSPORT", TEXT, "auto", 0, 0,                                                                  \
      "routes between tasks: auto, daemon, or a list such as shm,tcp; ^name excludes one")                             \
    X(LINKS_MAX, "PVM_LINKS_MAX", INTEGER, "256", 0, 65536, "most direct links of a task; to others the daemon leads") \
    X(LINK_FRAMES, "PVM_LINK_FRAMES", INTEGER, "4", 1, 0,                                                              \
      "frames to a task after which a direct link to it is opened (PvmAllowDirect)")                                   \
    X(SHM_RING, "PVM_SHM_RING", BYTES, "512k", 16384, 16777216, "ring of a shared-memory link, per direction")         \
    X(SHM_INLINE, "PVM_SHM_INLINE", BYTES, "4k", 64, 65536, "up to this size a message is copied through the ring")    \
    X(SHM_PENDING, "PVM_SHM_PENDING", BYTES, "256M", 65536, 0,                                                         \
      "bytes sent to one task by reference and not yet taken, before its senders wait")                                \
    X(SHM_CMA, "PVM_SHM_CMA", BOOL, "0", 0, 0,                                                                         \
      "let the receiver read in-place data from the sender (process_vm_readv); by default it goes through the ring")   \
    X(TCP_NODELAY, "PVM_TCP_NODELAY", BOOL, "1", 0, 0, "TCP_NODELAY on direct TCP links")                              \
    X(TCP_SNDBUF, "PVM_TCP_SNDBUF", BYTES, "0", 0, 1073741824, "send buffer of direct TCP links; 0: the system's")     \
    X(TCP_RCVBUF, "PVM_TCP_RCVBUF", BYTES, "0", 0, 1073741824, "receive buffer of direct TCP links; 0: the system's")  \
    X(TCP_PORTS, "PVM_TCP_PORTS", TEXT, "", 0, 0, "ports that direct TCP links listen on, as 4000-4100; default: any") \
    X(TCP_IF, "PVM_TCP_IF", TEXT, "", 0, 0,                                                                            \
      "interfaces or addresses for direct TCP links, separated by commas; default: all")                               \
    X(TCP_TLS, "PVM_TCP_TLS", TEXT, "auto", 0, 0,                                                                      \
      "encrypt direct TCP links: auto (those between hosts), 1 (all), 0 (none)")                                       \
    X(TCP_PLAIN, "PVM_TCP_PLAIN", TEXT, "", 0, 0,                                                                      \
      "networks that are trusted: auto leaves links there in the clear, as 10.1.0.0/16,fd00::/8")                      \
    X(TCP_TIMEOUT, "PVM_TCP_TIMEOUT", SECONDS, "3", 10000, 0, "how long a direct TCP link may take to connect")        \
    X(ATM_SOCKET, "PVM_ATM_SOCKET", PATH, "", 0, 0,                                                                    \
      "socket of the simulated ATM network (atm-sim serve); default: the user's in PVM_TMP")                           \
    X(ATM_TOPOLOGY, "PVM_ATM_TOPOLOGY", PATH, "", 0, 0,                                                                \
      "network that atm-sim serve runs when its command line names none; see atm-topology(5)")                         \
    X(ATM_CLOCK, "PVM_ATM_CLOCK", TEXT, "real", 0, 0, "clock of atm-sim serve: real, virtual")                         \
    X(ATM_AAL, "PVM_ATM_AAL", INTEGER, "5", 3, 5, "adaptation layer of direct ATM links: 5, or 3 or 4 for AAL3/4")     \
    X(ATM_MTU, "PVM_ATM_MTU", BYTES, "0", 0, 65535, "largest packet of direct ATM links; 0: the adapter's")            \
    X(ATM_CPU, "PVM_ATM_CPU", INTEGER, "1", 0, 1000000,                                                                \
      "virtual time that measured computing takes, in times of it; 0: only declared costs count")                      \
    X(ATM_CALL_COST, "PVM_ATM_CALL_COST", SECONDS, "0", 0, 0, "virtual time that each call of the Fore API takes")     \
    X(DP_LINK_IF, "PVM_DP_IF", TEXT, "", 0, 0,                                                                         \
      "interfaces for dp links, separated by commas; default: the first five that are up, lo among them")              \
    X(DP_LINK_ETHERTYPE, "PVM_DP_ETHERTYPE", INTEGER, "0x88b5", 0x600, 0xffff, "EtherType of dp frames")               \
    X(DP_LINK_MTU, "PVM_DP_MTU", BYTES, "16k", 576, 65535, "longest dp frame; interfaces may have less")               \
    X(DP_LINK_RING, "PVM_DP_RING", BYTES, "4M", 65536, 1073741824,                                                     \
      "memory for frames that have come, of each interface of a task")                                                 \
    X(DP_LINK_WINDOW, "PVM_DP_WINDOW", INTEGER, "1024", 1, 1024, "frames of a dp link on their way, a power of two")   \
    X(DP_LINK_TIMEOUT, "PVM_DP_TIMEOUT", SECONDS, "3", 10000, 0,                                                       \
      "how long the two ends of a dp link may take to reach each other")                                               \
    X(RDMA_DEVICE, "PVM_RDMA_DEVICE", TEXT, "", 0, 0, "RDMA device for direct links, as rxe0; default: the best one")  \
    X(RDMA_PORT, "PVM_RDMA_PORT", INTEGER, "0", 0, 255, "its port, from 1; 0: the best one")                           \
    X(RDMA_GID_INDEX, "PVM_RDMA_GID_INDEX", INTEGER, "-1", -1, 255,                                                    \
      "which of the port's GIDs; -1: the best one, PVM_IP's if there is one")                                          \
    X(RDMA_MTU, "PVM_RDMA_MTU", BYTES, "0", 0, 4096, "largest packet of an RDMA link; 0: the port's")                  \
    X(RDMA_EAGER, "PVM_RDMA_EAGER", BYTES, "8k", 256, 65536,                                                           \
      "up to this size a frame is sent at once; larger ones are read by the receiver")                                 \
    X(RDMA_INLINE, "PVM_RDMA_INLINE", BYTES, "192", 0, 1024, "up to this size it is handed to the device inline")      \
    X(RDMA_INPLACE, "PVM_RDMA_INPLACE", BYTES, "512k", 4096, 0,                                                        \
      "from this size on data in place are registered with the device; smaller ones are copied")                       \
    X(RDMA_CACHE, "PVM_RDMA_CACHE", BYTES, "64M", 1048576, 0, "message memory that stays registered with the device")  \
    X(RDMA_TIMEOUT, "PVM_RDMA_TIMEOUT", SECONDS, "30", 1000000, 0,                                                     \
      "how long a task that has joined an RDMA link waits for the other one to look")                                  \
    X(FAULT, "PVM_FAULT", TEXT, "", 0, 0,                                                                              \
      "for tests: faults of direct links, as seed=7,drop=1%,delay=2ms,cut=0.1%; see dpvm-transports(7)")               \
    X(TRACE_FILE, "PVM_TRACE", PATH, "", 0, 0,                                                                         \
      "file into which the calls and messages of a program are traced; see pvm-trace(1)")                              \
    X(THREADS, "PVM_THREADS", BOOL, "0", 0, 0, "each thread of a task has its own active buffers and context")         \
    X(SPIN, "PVM_SPIN", INTEGER, "-1", 0, 0, "microseconds a waiting task polls before it sleeps; -1: adaptive")       \
    X(WRAP, "PVM_WRAP", TEXT, "", 0, 0, "command that spawned tasks run under, with arguments, such as valgrind -q")   \
    X(LIBRARIES, "PVM_LIBRARIES", TEXT, "path", 0, 0,                                                                  \
      "how spawned tasks are led to this dpvm's libraries: path (LD_LIBRARY_PATH), preload (LD_PRELOAD, too), none")

#define PVMI_SETTINGS(X)                                                                                               \
    X(ROOT, "PVM_ROOT", PATH, "", 0, 0, "where PVM is installed; default: where this program was installed")           \
    X(ARCH, "PVM_ARCH", NAME, "", 0, 0, "architecture name; default: this machine's, as pvmgetarch prints it")         \
    X(TMP, "PVM_TMP", PATH, "/tmp", 0, 0, "folder of the daemon's socket, address file and log")                       \
    X(VMID, "PVM_VMID", NAME, "", 0, 0, "name of the virtual machine, to run several of one user on one host")         \
    X(RSH, "PVM_RSH", TEXT, "", 0, 0, "command that starts a daemon on another host, with arguments; default: ssh")    \
    X(PATH, "PVM_PATH", TEXT, "", 0, 0,                                                                                \
      "where spawned programs are searched; default: "                                                                 \
      "$HOME/pvm3/bin/$PVM_ARCH:$PVM_ROOT/bin/$PVM_ARCH:/usr/lib/pvm3/bin/$PVM_ARCH")                                  \
    X(WD, "PVM_WD", PATH, "", 0, 0, "working directory of spawned tasks; default: $HOME")                              \
    X(DEBUGGER, "PVM_DEBUGGER", PATH, "", 0, 0, "script that starts a task under a debugger")                          \
    X(DPATH, "PVM_DPATH", TEXT, "", 0, 0, "daemon's path on added hosts; default: pvmd3 beside this one")              \
    X(HOSTFILE, "PVMHOSTFILE", PATH, "", 0, 0, "hostfile that the daemon reads when its command line names none")      \
    X(LOG_MAX, "PVMDLOGMAX", BYTES, "1M", 0, 0,                                                                        \
      "size at which the daemon's log moves to NAME.old; 0: nothing is logged")                                        \
    X(DEBUG_MASK, "PVMDDEBUG", INTEGER, "0", 0, 0, "debug mask of the daemon")                                         \
    X(MAX_TASKS, "PVM_MAX_TASKS", INTEGER, "0", 0, 0, "most tasks of one host; 0: no limit")                           \
    X(PORT, "PVMNETSOCKPORT", INTEGER, "0", 0, 65535, "first TCP port the daemon tries; 0: any free one")              \
    X(ALLOW_ROOT, "PVM_ALLOW_ROOT", BOOL, "0", 0, 0, "let root start a daemon")                                        \
    X(SOCK, "PVMSOCK", PATH, "", 0, 0, "socket of the task's daemon; set for spawned tasks")                           \
    X(COOKIE, "PVMEPID", INTEGER, "0", 0, 0, "ties a spawned process to its task; set by the daemon")                  \
    X(TASK_FLAGS, "PVMTASK", INTEGER, "0", 0, 0, "added to the flags of each pvm_spawn")                               \
    X(TASK_DEBUG, "PVMTASKDEBUG", INTEGER, "0", 0, 0, "debug mask of a task")                                          \
    X(EXPORT, "PVM_EXPORT", TEXT, "", 0, 0, "colon list of variables that spawned tasks inherit")                      \
    X(CONTEXT, "PVMCTX", INTEGER, "0", 0, 0, "first context of a task; set for spawned tasks")                         \
    X(TRACE_MASK, "PVMTMASK", TEXT, "", 0, 0, "trace mask; set for spawned tasks")                                     \
    X(TRACE_BUFFER, "PVMTRCBUF", INTEGER, "0", 0, 0, "trace buffer in bytes; set for spawned tasks")                   \
    X(TRACE_OPTIONS, "PVMTRCOPT", INTEGER, "0", 0, 0, "trace options; set for spawned tasks")                          \
    X(RM_COMMAND, "PVM_RM", TEXT, "", 0, 0, "resource manager that the daemon starts with itself")                     \
    X(HOSTER_COMMAND, "PVM_HOSTER", TEXT, "", 0, 0, "hoster that the daemon starts with itself")                       \
    X(TASKER_COMMAND, "PVM_TASKER", TEXT, "", 0, 0, "tasker that the daemon starts with itself")                       \
    X(TRACER_COMMAND, "PVM_TRACER", TEXT, "", 0, 0, "tracer that the daemon starts with itself")                       \
    PVMI_CARRIED_SETTINGS(X)                                                                                           \
    X(DP_SOCKET, "PVM_DP_SOCKET", PATH, "", 0, 0,                                                                      \
      "program that opens raw sockets for those who may not; default: dp-socket of this installation")                 \
    X(LAUNCHER, "PVM_LAUNCHER", TEXT, "auto", 0, 0,                                                                    \
      "how daemons start on added hosts: auto (local for loopback names, PVM_RSH if set, else ssh), local, ssh, rsh, " \
      "manual")                                                                                                        \
    X(ATM_HOST, "PVM_ATM_HOST", TEXT, "", 0, 0,                                                                        \
      "host of the simulated ATM network that a task or daemon is on; default: the one with the fewest")               \
    X(ATM_PATIENCE, "PVM_ATM_PATIENCE", SECONDS, "60", 1000000, 0,                                                     \
      "silence after which atm-sim serve takes a program that holds virtual time off the network")                     \
    X(IP, "PVM_IP", TEXT, "", 0, 0, "address that this host's daemon listens on; default: all")                        \
    X(START_TIMEOUT, "PVM_START_TIMEOUT", SECONDS, "30", 100000, 0,                                                    \
      "how long an added host's daemon may take to join")                                                              \
    X(HOST_TIMEOUT, "PVM_HOST_TIMEOUT", SECONDS, "15", 500000, 0, "silence after which a host counts as failed")       \
    X(RESERVE, "PVM_RESERVE", BYTES, "1M", 0, 67108864,                                                                \
      "what daemon and group server keep for small needs when memory is out; 0: nothing")                              \
    X(QUEUE_MAX, "PVM_QUEUE_MAX", BYTES, "8M", 65536, 0, "bytes a daemon queues for one receiver before senders wait") \
    X(DP_NID, "DP_NID", INTEGER, "0", 0, 65534,                                                                        \
      "libdp: id of this node; 0: from the table of nodes, else derived from the interface's address")                 \
    X(DP_NART, "DP_NART", PATH, "", 0, 0, "libdp: table of nodes; default: /etc/dpvm/nart, if it is there")            \
    X(DP_INTERFACE, "DP_INTERFACE", NAME, "", 0, 0, "libdp: network interface; default: the first that is Ethernet")   \
    X(DP_TIMEOUT, "DP_TIMEOUT", SECONDS, "30", 100000, 0,                                                              \
      "libdp: silence after which a peer of a reliable channel counts as dead")                                        \
    X(DP_ETHERTYPE, "DP_ETHERTYPE", INTEGER, "0x88b5", 0x600, 65535, "libdp: EtherType of its frames")                 \
    X(LOG, "PVM_LOG", LEVEL, "warning", 0, 0, "what tasks and tools print on stderr: error, warning, info, debug")

enum pvmi_setting {
#define X(id, ...) PVMI_SETTING_##id,
    PVMI_SETTINGS(X)
#undef X
        PVMI_SETTING_COUNT
};

struct pvmi_setting_row {
    const char *name; /* environment variable */
    enum pvmi_setting_kind kind;
    const char *fallback; /* default text */
    int64_t minimum, maximum;
    const char *help;
};

extern const struct pvmi_setting_row pvmi_setting_table[PVMI_SETTING_COUNT];

#define X(...) +1
enum { PVMI_CARRIED_COUNT = 0 PVMI_CARRIED_SETTINGS(X) };
#undef X

extern const enum pvmi_setting pvmi_setting_carried[PVMI_CARRIED_COUNT];

/*
 * Values: the environment's, or the default. A malformed or out-of-range value is logged once as an error that names
 * the variable, the value and what would be right, and the default is used. Read anew at each call: setenv() takes
 * effect.
 */
const char *pvmi_config_text(enum pvmi_setting which); /* valid until the variable changes; "" when not set */
bool pvmi_config_bool(enum pvmi_setting which);
int64_t pvmi_config_integer(enum pvmi_setting which); /* also BYTES, in bytes, and LEVEL, as enum pvmi_log_level */
int64_t pvmi_config_us(enum pvmi_setting which);      /* SECONDS: in microseconds */

/* "environment", or "default" when the variable is not set, empty or malformed. */
const char *pvmi_config_origin(enum pvmi_setting which);

/* Checks one text against a row without logging: 0, or PVMI_EPARAM with a message in why[size] that names the cure. */
int pvmi_config_check(enum pvmi_setting which, const char *text, char *why, size_t size);

/*
 * Warns, once per process, about each environment variable PVM_* that no row names, with the nearest known name. Called
 * by start-up code after pvmi_log_to().
 */
void pvmi_config_warn_unknown(void);

/*
 * $PVM_ROOT, else the folder pvm3 that belongs to the place this library or program is in: of the installation prefix
 * or the build tree; else the one of the prefix that dpvm was configured with. Static storage.
 */
const char *pvmi_config_root(void);

/* The folder pvm3 that belongs to a library or program `file` (absolute path), as above: 0 or PVMI_ENOTFOUND. */
int pvmi_config_root_of(const char *file, char *root, size_t size);

/*
 * Where the daemon of this user and PVM_VMID keeps a file: "$PVM_TMP/<stem>.<uid>[.<vmid>]". 0, PVMI_ELIMIT when the
 * path is too long, PVMI_EPARAM when PVM_VMID is malformed (the default would be another machine); both logged.
 */
int pvmi_config_daemon_file(const char *stem, char *path, size_t size);

#endif
