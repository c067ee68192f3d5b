/* logfile.c - see logfile.h. A line that cannot be written is lost: logging must never stop the daemon. */
#include "logfile.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "core/config.h"
#include "core/error.h"
#include "core/fault/failpoint.h"
#include "core/journald.h"
#include "core/log.h"
#include "core/visible.h"
#include "self.h"

#define LINE_BYTES (PVMC_VISIBLE_GROWTH * 4096 + 304) /* a line of output and its prefix */

static enum { TO_FILE, TO_STDERR, TO_JOURNAL } target;

static int fd = -1; /* the log file, or standard error */
static char path[PATH_MAX];
static bool attached = true; /* standard error is still the starter's */
static int64_t max_bytes;    /* of the file */
static int64_t left_bytes;   /* until it is full */
static int debug_mask;

/* ---- the file ---- */

/* Moves the existing log aside if it is a regular file of ours. */
static void keep_old(void)
{
    char old[PATH_MAX + 4];
    struct stat st;
    if (lstat(path, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid())
        return;
    snprintf(old, sizeof old, "%s.old", path);
    if (!st.st_size || rename(path, old))
        unlink(path);
}

/* Begins a new log. Returns its descriptor, or -1 with errno. */
static int open_file(void)
{
    keep_old();
    return open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
}

/* Moves a full log aside, or empties it if no new one can be created: new lines are worth more than old ones. */
static void rotate(void)
{
    int next = open_file();
    left_bytes = max_bytes;
    if (next < 0) {
        left_bytes = ftruncate(fd, 0) ? 0 : max_bytes;
        return;
    }
    dup3(next, fd, O_CLOEXEC);
    close(next);
    if (!attached)
        dup2(fd, STDERR_FILENO);
}

/* ---- lines ---- */

static size_t put_head(char *line, size_t size)
{
    char when[32] = "";
    time_t now = time(NULL);
    struct tm tm;
    if (localtime_r(&now, &tm))
        strftime(when, sizeof when, "%m/%d %H:%M:%S", &tm);
    int n = pvmd.host_index ? snprintf(line, size, "[t%x] %s ", PVMC_TID_DAEMON | pvmd_host_tid(), when)
                            : snprintf(line, size, "[pvmd pid%d] %s ", (int)getpid(), when);
    return (size_t)n;
}

/* Loses the rest of the line when the reader of a pipe or terminal does not keep up: a write of PIPE_BUF bytes does not
 * wait after POLLOUT. */
static void write_to_reader(const char *line, size_t length)
{
    struct pollfd reader = {.fd = fd, .events = POLLOUT};
    while (length && poll(&reader, 1, 0) == 1 && reader.revents & POLLOUT) {
        ssize_t n = write(fd, line, length < PIPE_BUF ? length : PIPE_BUF);
        if (n <= 0)
            return;
        line += n;
        length -= (size_t)n;
    }
}

static void write_line(const char *line, size_t length)
{
    if (target == TO_STDERR)
        write_to_reader(line, length);
    if (target != TO_FILE || fd < 0 || !max_bytes)
        return;
    if (left_bytes < (int64_t)length)
        rotate();
    ssize_t written = pvmc_failpoint(PVMC_FAILPOINT_LOG_WRITE) ? -1 : write(fd, line, length);
    (void)written;
    pvmc_failpoint_done(PVMC_FAILPOINT_LOG_WRITE);
    left_bytes -= (int64_t)length;
}

/* tid: the task whose output it is, or 0. */
static void send_to_journal(enum pvmc_log_level level, const char *line, pvmc_tid tid)
{
    char daemon[16] = "", task[16] = "";
    if (pvmd.host_index)
        snprintf(daemon, sizeof daemon, "t%x", PVMC_TID_DAEMON | pvmd_host_tid());
    if (tid)
        snprintf(task, sizeof task, "t%x", tid);
    const struct pvmc_journald_field fields[] = {{"SYSLOG_IDENTIFIER", "pvmd3"},
                                                 {"PVM_HOST", pvmd.host_name ? pvmd.host_name : ""},
                                                 {"PVM_VMID", pvmc_config_text(PVMC_SETTING_VMID)},
                                                 {"PVM_DAEMON", daemon},
                                                 {"PVM_TASK", task},
                                                 {NULL, NULL}};
    pvmc_journald_send(level, line, fields);
}

static void sink(enum pvmc_log_level level, const char *text, void *arg)
{
    (void)arg;
    if (attached && level <= PVMC_LOG_WARNING)
        fprintf(stderr, "pvmd3: %s\n", text);
    if (target == TO_JOURNAL) {
        send_to_journal(level, text, 0);
        return;
    }
    char line[LINE_BYTES];
    size_t head = put_head(line, sizeof line);
    int n = snprintf(line + head, sizeof line - head, "%s\n", text);
    write_line(line, head + (size_t)n);
}

void pvmd_logfile_output(pvmc_tid tid, const char *text, size_t length)
{
    char line[LINE_BYTES];
    size_t n = target == TO_JOURNAL ? 0 : put_head(line, sizeof line);
    n += (size_t)snprintf(line + n, sizeof line - n, "[t%x] ", tid);
    n += pvmc_visible_bytes(line + n, sizeof line - 1 - n, text, length);
    if (target == TO_JOURNAL) {
        send_to_journal(PVMC_LOG_INFO, line, tid);
        return;
    }
    line[n++] = '\n';
    write_line(line, n);
}

void pvmd_logfile_tell(const char *text)
{
    if (!attached)
        return;
    fputs("pvmd3: ", stderr);
    pvmc_visible_print(stderr, text);
    fputc('\n', stderr);
}

/* ---- start and end ---- */

void pvmd_logfile_set_mask(int mask)
{
    debug_mask = mask;
    pvmc_log_to(sink, NULL, mask ? PVMC_LOG_DEBUG : PVMC_LOG_INFO);
}

int pvmd_logfile_mask(void)
{
    return debug_mask;
}

static int make_path(void)
{
    int rc = pvmc_config_daemon_file("pvml", path, sizeof path - PVMD_SUFFIX_MAX);
    if (!rc)
        strcat(path, pvmd.file_suffix);
    return rc;
}

int pvmd_logfile_check(char *why, size_t size)
{
    static const char *const names[] = {[TO_FILE] = "file", [TO_STDERR] = "stderr", [TO_JOURNAL] = "journal"};
    const char *asked = pvmc_config_text(PVMC_SETTING_LOG_TO);
    for (int i = TO_FILE; i <= TO_JOURNAL; i++) {
        target = i;
        if (!strcmp(asked, names[i]))
            return 0;
    }
    target = TO_FILE;
    snprintf(why, size, "not started: PVM_LOG_TO=%.100s: it must be file, stderr or journal", asked);
    return PVMC_EPARAM;
}

static void open_log_file(void)
{
    target = TO_FILE;
    max_bytes = left_bytes = pvmc_config_integer(PVMC_SETTING_LOG_MAX);
    fd = make_path() || !max_bytes ? -1 : open_file();
    pvmd_logfile_set_mask(debug_mask);
    if (fd < 0 && max_bytes)
        pvmc_log(PVMC_LOG_WARNING, "continuing without the log %s: %s", path,
                 errno == EEXIST ? "a file of that name is not ours; remove it" : strerror(errno));
}

static void open_journal(void)
{
    if (!pvmc_journald_open(PVMC_JOURNALD_SOCKET))
        return;
    int error = errno;
    open_log_file();
    pvmc_log(PVMC_LOG_WARNING, "logging to a file instead of the journal: %s: %s", PVMC_JOURNALD_SOCKET,
             strerror(error));
}

void pvmd_logfile_open(bool slave)
{
    if (target == TO_JOURNAL) {
        open_journal();
    } else if (target == TO_STDERR && !slave) {
        fd = STDERR_FILENO;
        attached = false;
    } else {
        open_log_file();
    }
    pvmd_logfile_set_mask(debug_mask);
}

void pvmd_logfile_detach(void)
{
    if (fd == STDERR_FILENO)
        return;
    int to = fd >= 0 ? fd : open("/dev/null", O_WRONLY | O_CLOEXEC);
    attached = false;
    if (to >= 0)
        dup2(to, STDERR_FILENO);
    if (to >= 0 && to != fd)
        close(to);
}

void pvmd_logfile_close(void)
{
    pvmc_log_to(NULL, NULL, PVMC_LOG_WARNING);
    pvmc_journald_close();
    if (fd >= 0 && fd != STDERR_FILENO)
        close(fd);
    fd = -1;
}
