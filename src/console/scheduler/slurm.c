/*
 * slurm.c - jobs of Slurm. A keeper (keeper.h) brings the other nodes into the machine by one srun step. With
 * add -slurm it runs srun outside of the job: srun then asks for an allocation of its own and holds it until its tasks
 * have ended.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "console/child.h"
#include "console/command.h"
#include "console/commands/host.h"
#include "console/console.h"
#include "core/place/program.h"
#include "core/visible.h"
#include "keeper.h"
#include "kinds.h"
#include "scheduler.h"

enum { COMMAND_MS = 60000, NODES_MAX = 4095, WORDS_MAX = 64 };

static const char *text_of(const char *variable)
{
    const char *text = getenv(variable);
    return text != NULL ? text : "";
}

/* ---- the nodes of this job ---- */

/* "n[1-3]" as lines with one name each. False: *fault says why not. */
static bool expand(const char *list, struct child *scontrol, struct fault *fault)
{
    char *words[] = {"scontrol", "show", "hostnames", (char *)list, NULL};
    int error = child_exec(scontrol, words);

    if (error != 0) {
        fault_set(fault, "cannot run scontrol, which reads SLURM_JOB_NODELIST=%s: %s", list, strerror(error));
        return false;
    }
    child_gather(scontrol, 1, COMMAND_MS);
    const char *said = child_text(scontrol, CHILD_ERR);
    bool good = !scontrol->late && scontrol->status == 0 && *said == '\0'; /* it ends with 0 after errors, too */
    if (!good)
        fault_set(fault, "SLURM_JOB_NODELIST=%s: scontrol show hostnames failed: %.*s", list, (int)strcspn(said, "\n"),
                  scontrol->late ? "no answer" : said);
    return good;
}

/*
 * Tasks if the user has asked for a number of them, else processors. SLURM_TASKS_PER_NODE is set in both cases; without
 * such a wish it is 1 for each node.
 */
static bool read_slots(struct nodes *nodes, struct fault *fault)
{
    bool by_tasks = *text_of("SLURM_NTASKS") != '\0' || *text_of("SLURM_NTASKS_PER_NODE") != '\0';
    const char *variable = by_tasks ? "SLURM_TASKS_PER_NODE" : "SLURM_JOB_CPUS_PER_NODE", *text = text_of(variable);
    int share = by_tasks ? 1 : atoi(text_of("SLURM_CPUS_PER_TASK"));
    const char *wrong = *text != '\0' ? nodes_set_slots(nodes, text, share > 0 ? share : 1) : NULL;

    if (wrong != NULL)
        fault_set(fault, "%s=%s: %s", variable, text, wrong);
    return wrong == NULL;
}

static bool read_nodes(struct nodes *nodes, struct fault *fault)
{
    struct child scontrol;
    const char *list = getenv("SLURM_JOB_NODELIST");
    bool good = expand(list, &scontrol, fault);
    const char *wrong = good ? nodes_read_lines(nodes, child_text(&scontrol, CHILD_OUT)) : NULL;

    child_free(&scontrol);
    if (wrong != NULL)
        fault_set(fault, "SLURM_JOB_NODELIST=%s: %s", list, wrong);
    return good && wrong == NULL && read_slots(nodes, fault);
}

/* Slurm may know a host by another name than the host itself does. */
static int own_node(const struct nodes *nodes)
{
    const char *name = text_of("SLURMD_NODENAME");

    for (int i = 0; i < nodes->count; i++)
        if (strcmp(nodes->all[i].name, name) == 0)
            return i;
    return scheduler_own_by_name(nodes);
}

/* ---- steps ---- */

/*
 * What runs on each node, under sh: its arguments are the daemon's program, the node of the machine's first daemon, the
 * slots of nodes, and whether one task remains. The address and the token come by standard input, which the keeper
 * closes when the daemon here has ended.
 *
 * On the first daemon's own node nothing joins, but a task stays, so that the step ends when the job does and not
 * before. If that daemon runs outside of the job, the first task stays instead.
 */
static const char step_script[] =
    "node=$SLURMD_NODENAME step=$SLURM_JOB_ID.$SLURM_STEP_ID\n"
    "if [ \"$node\" = \"$2\" ]; then\n"
    "    echo \"" KEEPER_STEP "$node $step\"\n"
    "    exec cat >/dev/null\n"
    "fi\n"
    "echo \"" KEEPER_NODE "$node $step\"\n"
    "slots=${SLURM_CPUS_ON_NODE:-1}\n"
    "case $3 in *\",$node=\"*) slots=${3#*\",$node=\"}; slots=${slots%%,*} ;; esac\n"
    "read -r address && read -r token || exit 1\n"
    "daemon=$1\n"
    "[ -x \"$daemon\" ] || daemon=$(command -v pvmd3) || daemon=\n"
    "over= code=127\n"
    "trap over=1 TERM\n"
    "if [ -n \"$daemon\" ]; then\n"
    "    printf '%s\\n' \"$token\" | \"$daemon\" --join \"$address\" --token-file - -n \"$node\" --slots \"$slots\"\n"
    "    code=$?\n"
    "else\n"
    "    echo \"$node: there is no $1, and no pvmd3 in PATH\"\n"
    "fi\n"
    "echo \"" KEEPER_LEFT "$node $code\"\n"
    "[ \"$4\" = stay ] && [ \"$SLURM_PROCID\" = 0 ] && [ -z \"$over\" ] && exec cat >/dev/null\n"
    "exit 0\n";

/* ",n1=2,n2=4," NULL: out of memory. */
static char *slots_text(const struct nodes *nodes)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);

    if (to == NULL)
        return NULL;
    fputc(',', to);
    for (int i = 0; i < nodes->count; i++)
        fprintf(to, "%s=%d,", nodes->all[i].name, nodes->all[i].slots);
    return fclose(to) == 0 ? text : NULL;
}

/* The command of a step, but for the options in between. Returns the number of words, of which `first` come first. */
static int step_words(char **words, int nodes, char **options, int option_count, char **script_arguments)
{
    static char number[16];
    /* Neither a task that fails nor a lost node ends the others. A daemon may use all processors of the job there. */
    static char *const fixed[] = {"srun",     "--ntasks-per-node=1", "--no-kill",  "--kill-on-bad-exit=0",
                                  "--wait=0", "--cpu-bind=none",     "--mpi=none", "--job-name=pvm"};
    int n = 0;

    snprintf(number, sizeof(number), "%d", nodes);
    for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
        words[n++] = fixed[i];
    words[n++] = "-N";
    words[n++] = number;
    words[n++] = "-n";
    words[n++] = number;
    for (int i = 0; i < option_count; i++)
        words[n++] = options[i];
    words[n++] = "sh";
    words[n++] = "-c";
    words[n++] = (char *)step_script;
    words[n++] = "pvm-step";
    for (int i = 0; i < 4; i++)
        words[n++] = script_arguments[i];
    words[n] = NULL;
    return n;
}

/* The daemon's program, which nodes usually have at the same place. */
static bool find_daemon(char *path, size_t size)
{
    if (pvmc_program_find("pvmd3", path, size) == 0)
        return true;
    advise("pvm: there is no pvmd3 in PVM_ROOT, nor beside this program, nor in PATH");
    return false;
}

static bool take(const struct nodes *nodes, int own)
{
    char daemon[PATH_MAX], *words[WORDS_MAX], *slots = slots_text(nodes);
    char *options[] = {"--overlap"}; /* besides other steps of the job */

    if (slots == NULL || !find_daemon(daemon, sizeof(daemon))) {
        free(slots);
        return false;
    }
    char *arguments[] = {daemon, own >= 0 ? nodes->all[own].name : (char *)"", slots, (char *)(own >= 0 ? "" : "stay")};
    step_words(words, nodes->count, options, 1, arguments);
    bool good = keeper_start(KEEPER_OF_JOB, nodes->count - (own >= 0), words);
    free(slots);
    return good;
}

const struct scheduler scheduler_slurm = {read_nodes, own_node, take};

/* ---- add -slurm ---- */

static bool is_line_of(const char *lines, const char *name)
{
    for (size_t length; *lines != '\0'; lines += length + (lines[length] == '\n')) {
        length = strcspn(lines, "\n");
        if (strlen(name) == length && strncmp(lines, name, length) == 0)
            return true;
    }
    return false;
}

/*
 * "--exclude=n1,n2" for those of Slurm's nodes that are hosts already, since a node may have room for a further job.
 * The caller frees it; NULL: there are none.
 */
static char *exclusion(void)
{
    char *words[] = {"sinfo", "--noheader", "--Node", "--format=%N", NULL}, *text = NULL;
    struct child sinfo;
    size_t size = 0;
    int n, formats, found = 0;
    struct pvmhostinfo *hosts = host_list(&n, &formats);
    FILE *to = open_memstream(&text, &size);

    if (child_exec(&sinfo, words) == 0)
        child_gather(&sinfo, 1, COMMAND_MS);
    for (int i = 0; i < n && to != NULL; i++)
        if (is_line_of(child_text(&sinfo, CHILD_OUT), hosts[i].hi_name))
            fprintf(to, "%s%s", found++ > 0 ? "," : "--exclude=", hosts[i].hi_name);
    child_free(&sinfo);
    if (to != NULL && fclose(to) == 0 && found > 0)
        return text;
    free(text);
    return NULL;
}

int scheduler_add(int argc, char **argv)
{
    char daemon[PATH_MAX], *words[WORDS_MAX], *options[WORDS_MAX], *arguments[] = {daemon, "", "", ""}, *end = NULL;
    int n = 0;
    long count = argc > 1 ? strtol(argv[1], &end, 10) : 0;

    if (count < 1 || count > NODES_MAX || *end != '\0') {
        complain("add -slurm: give the number of nodes, from 1 to %d, and then options of srun", NODES_MAX);
        return CONSOLE_FAILED;
    }
    if (argc > WORDS_MAX - 24) {
        complain("add -slurm: too many options");
        return CONSOLE_FAILED;
    }
    if (!find_daemon(daemon, sizeof(daemon)))
        return CONSOLE_FAILED;
    char *exclude = exclusion();
    if (exclude != NULL)
        options[n++] = exclude;
    for (int i = 2; i < argc; i++)
        options[n++] = argv[i];
    step_words(words, (int)count, options, n, arguments);
    bool good = keeper_start(KEEPER_OF_ITSELF, (int)count, words);
    free(exclude);
    return good ? CONSOLE_OK : CONSOLE_FAILED;
}
