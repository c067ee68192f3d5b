/*
 * step.c - the keeper's process: see keeper.h. It is no task, so that it neither is listed nor ends with the machine.
 *
 * It tells the console, in lines: "node NAME" (a daemon is about to join there), "left NAME", "say TEXT" (of srun, or
 * what is wrong) and, when the step has ended, "end". The console says "token ADDRESS TOKEN" once, and may say "stop".
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "console/child.h"
#include "core/config.h"
#include "keeper.h"

enum {
    LINE_MAX_BYTES = 1024,
    SCONTROL_MS = 60000, /* for scontrol and scancel */
    LEFT_MS = 2000,      /* for srun to notice that its last daemon has left */
    ENDING_MS = 10000,   /* for a step that has been told to end */
    READS_MAX = 64,      /* at srun's end; 16 empty a full pipe */
    NODES_MAX = 4095,
};

static struct {
    enum keeper_kind kind;
    int console;
    int daemon; /* pidfd; -1: it has ended */
    pid_t srun;
    int srun_ended;            /* pidfd */
    int to_srun, from_srun;    /* -1: closed */
    char line[LINE_MAX_BYTES]; /* of srun, so far */
    size_t length;
    char step[64];          /* "JOB.STEP"; "": none has begun */
    int tasks;              /* that say that a daemon joins, and that it has left, ... */
    int begun, left;        /* ... and how many have said so */
    bool is_empty;          /* all daemons have left */
    bool has_token;         /* the tasks have been given it */
    bool stopped;           /* the step has been told to end */
    char *nodes[NODES_MAX]; /* on which daemons are */
    int node_count;
} keeper;

static void __attribute__((format(printf, 1, 2))) tell(const char *format, ...)
{
    char text[2 * LINE_MAX_BYTES];
    va_list args;

    va_start(args, format);
    int length = vsnprintf(text, sizeof(text) - 1, format, args);
    va_end(args);
    if (length > (int)sizeof(text) - 2)
        length = (int)sizeof(text) - 2;
    text[length] = '\n';
    send(keeper.console, text, (size_t)length + 1, MSG_DONTWAIT | MSG_NOSIGNAL); /* nobody may be there any more */
}

/* ---- commands ---- */

/* Runs a command, and tells the console what it says if it fails. */
static bool run(char **words, struct child *child, int limit_ms)
{
    int error = child_exec(child, words);

    if (error != 0) {
        tell("say %s: %s", words[0], strerror(error));
        return false;
    }
    child_gather(child, 1, limit_ms);
    bool good = !child->late && child->status == 0;
    const char *said = child_text(child, CHILD_ERR);
    if (!good)
        tell("say %s: %.*s", words[0], (int)strcspn(said, "\n"), child->late ? "no answer" : said);
    return good;
}

static void run_only(char **words)
{
    struct child child;

    run(words, &child, SCONTROL_MS);
    child_free(&child);
}

static void write_all(int fd, const char *text)
{
    for (size_t length = strlen(text); length > 0;) {
        ssize_t n = write(fd, text, length);
        if (n < 0 && errno != EINTR)
            return; /* srun has ended */
        text += n > 0 ? n : 0;
        length -= n > 0 ? (size_t)n : 0;
    }
}

/* Gives all tasks of the step the address and a token. srun passes its input to each. */
static void tell_tasks(const char *address, const char *token)
{
    if (keeper.to_srun < 0)
        return;
    keeper.has_token = true;
    write_all(keeper.to_srun, address);
    write_all(keeper.to_srun, "\n");
    write_all(keeper.to_srun, token);
    write_all(keeper.to_srun, "\n");
}

/* ---- the allocation ---- */

static bool forget(const char *name)
{
    for (int i = 0; i < keeper.node_count; i++)
        if (strcmp(keeper.nodes[i], name) == 0) {
            free(keeper.nodes[i]);
            keeper.nodes[i] = keeper.nodes[--keeper.node_count];
            return true;
        }
    return false;
}

/* "JobId=JOB" and "NodeList=a,b". */
static bool format_update(char **job, char **list)
{
    size_t size;
    FILE *to = open_memstream(list, &size);

    if (to == NULL)
        return false;
    fputs("NodeList=", to);
    for (int i = 0; i < keeper.node_count; i++)
        fprintf(to, "%s%s", i > 0 ? "," : "", keeper.nodes[i]);
    return fclose(to) == 0 && asprintf(job, "JobId=%.*s", (int)strcspn(keeper.step, "."), keeper.step) >= 0;
}

/*
 * Gives nodes without a daemon back, once all tasks have begun: until then we do not know all nodes that we need. If
 * Slurm refuses, they remain until the last daemon of the job has left.
 */
static void shrink(void)
{
    char folder[] = "/tmp/pvm-shrink.XXXXXX", *job = NULL, *list = NULL;

    if (keeper.kind != KEEPER_OF_ITSELF || keeper.node_count == 0 || keeper.begun < keeper.tasks)
        return;
    if (keeper.stopped || keeper.daemon < 0)
        return;
    if (mkdtemp(folder) == NULL || chdir(folder) != 0) /* scontrol leaves scripts in its folder */
        return;
    if (format_update(&job, &list)) {
        char *words[] = {"scontrol", "update", job, list, NULL};
        char *scripts[] = {"rm", "-rf", "--", folder, NULL};
        run_only(words);
        if (chdir("/") == 0)
            run_only(scripts);
    }
    free(job);
    free(list);
}

/*
 * srun waits for ever for a task whose node was given back before it had heard of the task's end. So the allocation is
 * ended when its last daemon has left.
 */
static void release(void)
{
    char job[sizeof(keeper.step)];
    char *words[] = {"scancel", job, NULL};

    snprintf(job, sizeof(job), "%.*s", (int)strcspn(keeper.step, "."), keeper.step);
    run_only(words);
    keeper.is_empty = false;
    keeper.stopped = true;
}

/* Asks the step's processes to end: its daemons leave. Without a step, srun gives up its request. */
static void stop(void)
{
    char *words[] = {"scancel", "--signal=TERM", keeper.step, NULL};

    keeper.stopped = true;
    if (keeper.step[0] != '\0')
        run_only(words);
    else
        kill(keeper.srun, SIGTERM);
}

/* ---- events ---- */

/* Whether a line says what nobody needs to know: of srun on clusters without a certain plugin; of daemons that join. */
static bool is_noise(const char *line)
{
    static const char *const noise[] = {"lacks support for cpu binding", "dpvm: has joined the machine",
                                        "dpvm: has come back to the machine"};
    for (size_t i = 0; i < sizeof(noise) / sizeof(noise[0]); i++)
        if (strstr(line, noise[i]) != NULL)
            return true;
    return false;
}

static void add_node(const char *name)
{
    char *copy = strdup(name);

    if (copy != NULL)
        keeper.nodes[keeper.node_count++] = copy;
    keeper.begun++;
    keeper.is_empty = false;
    tell("node %s", name);
    if (keeper.left > 0)
        shrink(); /* those that have left already */
}

static void lose_node(const char *name)
{
    tell("left %s", name);
    keeper.left++;
    if (forget(name))
        shrink();
    keeper.is_empty = keeper.kind == KEEPER_OF_ITSELF && keeper.left >= keeper.tasks;
}

static void take_line(const char *line)
{
    char name[256], rest[64];

    if (sscanf(line, KEEPER_STEP "%255s %63s", name, rest) == 2) {
        snprintf(keeper.step, sizeof(keeper.step), "%s", rest);
    } else if (sscanf(line, KEEPER_NODE "%255s %63s", name, rest) == 2 && keeper.node_count < NODES_MAX) {
        snprintf(keeper.step, sizeof(keeper.step), "%s", rest);
        add_node(name);
    } else if (sscanf(line, KEEPER_LEFT "%255s %63s", name, rest) == 2) {
        lose_node(name);
    } else if (*line != '\0' && !is_noise(line)) {
        tell("say %s", line);
    }
}

static void take_output(void)
{
    char bytes[4096];
    ssize_t got = read(keeper.from_srun, bytes, sizeof(bytes));

    for (ssize_t i = 0; i < got; i++) {
        if (bytes[i] != '\n' && keeper.length < sizeof(keeper.line) - 1) {
            keeper.line[keeper.length++] = bytes[i];
        } else if (bytes[i] == '\n') {
            keeper.line[keeper.length] = '\0';
            keeper.length = 0;
            take_line(keeper.line);
        }
    }
    if (got == 0 || (got < 0 && errno != EINTR)) {
        close(keeper.from_srun);
        keeper.from_srun = -1;
    }
}

/*
 * The console has ended. With a token the daemons need it no more. Without one they would never join, on nodes that are
 * held for them alone; those of a job are held by that job in any case, and its end is to be told to the daemon here.
 */
static void console_ended(void)
{
    if (keeper.kind == KEEPER_OF_ITSELF && !keeper.has_token && !keeper.stopped)
        stop();
}

/* Orders come whole: the console writes each at once, and they are few. */
static void take_order(struct pollfd *p)
{
    char order[2 * LINE_MAX_BYTES], address[LINE_MAX_BYTES], token[LINE_MAX_BYTES];
    ssize_t got = recv(keeper.console, order, sizeof(order) - 1, MSG_DONTWAIT);

    if (got == 0) {
        p->fd = -1;
        console_ended();
    }
    if (got <= 0)
        return;
    order[got] = '\0';
    if (sscanf(order, "token %1023s %1023s", address, token) == 2)
        tell_tasks(address, token);
    else
        stop();
    explicit_bzero(order, sizeof(order));
    explicit_bzero(token, sizeof(token));
}

/* The daemons of the step hear by themselves that the machine has ended. If it goes on without this one, they stay. */
static void daemon_ended(void)
{
    close(keeper.daemon);
    keeper.daemon = -1;
    if (keeper.to_srun >= 0)
        close(keeper.to_srun);
    keeper.to_srun = -1;
    if (keeper.step[0] == '\0')
        kill(keeper.srun, SIGTERM); /* it still waits for nodes */
}

/* What srun has written is in the pipe by now. Helpers of srun may live on and hold it open, so we do not wait. */
static void take_rest(void)
{
    struct pollfd p = {keeper.from_srun, POLLIN, 0};

    for (int i = 0; i < READS_MAX && keeper.from_srun >= 0 && poll(&p, 1, 0) > 0; i++)
        take_output();
}

/* A step that has begun ends only with its job: so does the machine. */
static void srun_ended(void)
{
    take_rest();
    if (keeper.kind == KEEPER_OF_JOB && keeper.step[0] != '\0' && !keeper.stopped && keeper.daemon >= 0)
        pidfd_send_signal(keeper.daemon, SIGTERM, NULL, 0);
}

static void loop(void)
{
    struct pollfd p[] = {{keeper.console, POLLIN, 0}, {-1, POLLIN, 0}, {-1, POLLIN, 0}, {keeper.srun_ended, POLLIN, 0}};

    for (bool ended = false; !ended;) {
        p[1].fd = keeper.from_srun;
        p[2].fd = keeper.daemon;
        int n = poll(p, 4, keeper.is_empty ? LEFT_MS : keeper.stopped ? ENDING_MS : -1);
        if (n == 0 && keeper.is_empty)
            release();
        else if (n == 0)
            kill(keeper.srun, SIGTERM); /* which makes it kill its tasks */
        if (n <= 0)
            continue;
        if (p[0].revents != 0)
            take_order(&p[0]);
        if (p[1].revents != 0)
            take_output();
        if (p[2].revents != 0)
            daemon_ended();
        ended = p[3].revents != 0;
    }
    srun_ended();
}

/* ---- start ---- */

/* srun shall not take its options from the job that we run in; of a step of that job it must know the job. */
static void clean_environment(void)
{
    char vmid[256], why[256], *job = NULL;
    const char *id = getenv("SLURM_JOB_ID");

    snprintf(vmid, sizeof(vmid), "%s", pvmc_config_text(PVMC_SETTING_VMID));
    if (keeper.kind == KEEPER_OF_JOB && id != NULL)
        job = strdup(id);
    for (char **at = environ; *at != NULL;) {
        char name[256];
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(*at, "="), *at);
        bool goes = (strncmp(name, "SLURM_", 6) == 0 && strcmp(name, "SLURM_CONF") != 0) ||
                    strncmp(name, "SLURMD_", 7) == 0 || strncmp(name, "SRUN_", 5) == 0;
        if (!goes || unsetenv(name) != 0)
            at++;
    }
    if (job != NULL)
        setenv("SLURM_JOB_ID", job, 1);
    free(job);
    if (vmid[0] != '\0')
        setenv("PVM_VMID", vmid, 1);
    setenv("PVM_SCHEDULER", "none", 1); /* the step's job is no other machine's */
    setenv("PVM_JOIN_TIMEOUT", "60", 0);
    setenv("PVMDLOGMAX", "0", 0); /* a log for each job would remain on each node */
    if (!pvmc_config_unknown("PVM_LEAVE_TIMEOUT", why, sizeof(why)))
        setenv("PVM_LEAVE_TIMEOUT", "1", 0); /* Slurm tells tasks itself when their time is over */
    unsetenv("PVM_SLOTS");
    unsetenv("PVMSOCK"); /* ours, not theirs */
}

/* In the child: srun with our ends of the pipes, and with no signal ignored or blocked. */
static void __attribute__((noreturn)) become_srun(char **words, int in, int out)
{
    sigset_t none;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    clean_environment();
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    execvp(words[0], words);
    dprintf(STDERR_FILENO, "cannot run %s: %s\n", words[0], strerror(errno));
    _exit(127);
}

static bool start_srun(char **words)
{
    int in[2], out[2];

    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
        return false;
    keeper.srun = fork();
    if (keeper.srun == 0)
        become_srun(words, in[0], out[1]);
    close(in[0]);
    close(out[1]);
    keeper.to_srun = in[1];
    keeper.from_srun = out[0];
    keeper.srun_ended = keeper.srun > 0 ? pidfd_open(keeper.srun, 0) : -1;
    return keeper.srun_ended >= 0;
}

int keeper_main(int argc, char **argv)
{
    if (argc < 5)
        return 2;
    signal(SIGPIPE, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN); /* of a job that ends; the step's end follows */
    keeper.kind = (enum keeper_kind)atoi(argv[1]);
    keeper.tasks = atoi(argv[3]);
    keeper.daemon = pidfd_open(atoi(argv[2]), 0);
    keeper.console = STDIN_FILENO;
    if (keeper.daemon < 0 || !start_srun(argv + 4)) {
        tell("say cannot start %s: %s", argv[4], strerror(errno));
        tell("end");
        return 1;
    }
    loop();
    waitpid(keeper.srun, NULL, 0);
    tell("end");
    for (int i = 0; i < keeper.node_count; i++)
        free(keeper.nodes[i]);
    return 0;
}
