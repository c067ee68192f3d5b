/* logfile.c - see logfile.h. A line that cannot be written is lost: logging must never stop the daemon. */
#include "logfile.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "core/config.h"
#include "core/error.h"
#include "core/fault/failpoint.h"
#include "core/log.h"
#include "core/visible.h"
#include "self.h"

#define LINE_BYTES (PVMC_VISIBLE_GROWTH * 4096 + 304) /* a line of output and its prefix */

static int fd = -1;
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

static void write_line(const char *line, size_t length)
{
    if (fd < 0 || !max_bytes)
        return;
    if (left_bytes < (int64_t)length)
        rotate();
    ssize_t written = pvmc_failpoint(PVMC_FAILPOINT_LOG_WRITE) ? -1 : write(fd, line, length);
    (void)written;
    pvmc_failpoint_done(PVMC_FAILPOINT_LOG_WRITE);
    left_bytes -= (int64_t)length;
}

static void sink(enum pvmc_log_level level, const char *text, void *arg)
{
    (void)arg;
    char line[LINE_BYTES];
    size_t head = put_head(line, sizeof line);
    int n = snprintf(line + head, sizeof line - head, "%s\n", text);
    write_line(line, head + (size_t)n);
    if (attached && level <= PVMC_LOG_WARNING)
        fprintf(stderr, "pvmd3: %s\n", text);
}

void pvmd_logfile_output(pvmc_tid tid, const char *text, size_t length)
{
    char line[LINE_BYTES];
    size_t n = put_head(line, sizeof line);
    n += (size_t)snprintf(line + n, sizeof line - n, "[t%x] ", tid);
    n += pvmc_visible_bytes(line + n, sizeof line - 1 - n, text, length);
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

void pvmd_logfile_open(void)
{
    max_bytes = left_bytes = pvmc_config_integer(PVMC_SETTING_LOG_MAX);
    fd = make_path() ? -1 : open_file();
    pvmd_logfile_set_mask(debug_mask);
    if (fd < 0)
        pvmc_log(PVMC_LOG_WARNING, "continuing without the log %s: %s", path,
                 errno == EEXIST ? "a file of that name is not ours; remove it" : strerror(errno));
}

void pvmd_logfile_detach(void)
{
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
    if (fd >= 0)
        close(fd);
    fd = -1;
}
