/*
 * thesis.c - the thesis's programs as real PVM programs: GENESIS and NAS kernels of dpvm's examples, class T,
 * whose messages are those of Table A.1.
 */
#include <stdio.h>
#include <string.h>
#include "reproduce/real.h"
#include "reproduce/tables.h"

enum { HOSTS = 5 };

static const char messages_alone[] =
    "Table 2.2 counts building messages and waiting for tasks that compute; ours is what the messages of Table A.1 "
    "take alone. At most 140.8 Mbit/s of data pass a link, and four tasks share them: 45.9 MB in PDE1 take 0.65 s, 34 "
    "MB in SOLVER 0.48 s, 44 MB in FT 0.63 s, 42.7 MB in IS 0.61 s, 25.6 MB in MG 0.36 s. PDE2's 0.94 MB would take "
    "0.013 s, but its thousand exchanges of few octets take some 40 us each, one after the other";
static const char through_first[] =
    "7116 messages in turn through the first task, 13.8 MB, take 0.79 s on one link; the rest of the table's time is "
    "the thesis's processors'";

#define ROW(name, why)                                                                                                 \
    {                                                                                                                  \
        THESIS_IDEAL, name, "messages", REPORT_PREDICTS, why                                                           \
    }

static const struct report_program programs[] = {
    ROW("PDE1", messages_alone), ROW("PDE2", messages_alone), ROW("SOLVER", messages_alone), ROW("CG", through_first),
    ROW("FT", messages_alone),   ROW("IS", messages_alone),   ROW("MG", messages_alone),
};

/* Seconds in communication, which has all of its time since computing takes none. The null model has no messages. */
static double communication_s(const char *program)
{
    static const struct real_setup ideal = {.profile = "ideal", .model = "output", .rate = "155.52M", .hosts = HOSTS};
    char command[64], text[1024];
    double seconds = 0;
    const char *at;

    if (real_is_null())
        return 0;
    snprintf(command, sizeof command, "%s --class=T --stats", program);
    real_run(&ideal, command, text, sizeof text);
    at = strstr(text, " comm_s=");
    if (!at || sscanf(at, " comm_s=%lf", &seconds) != 1)
        real_fail(command);
    return seconds;
}

static void run(struct report *report)
{
    static const struct {
        const char *row, *program;
    } kernels[] = {{"PDE1", "pde1"}, {"PDE2", "pde2"}, {"SOLVER", "solver"}, {"CG", "cg"},
                   {"FT", "ft"},     {"IS", "is"},     {"MG", "mg"}};

    for (unsigned i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
        report_set_program(report, THESIS_IDEAL, kernels[i].row, "messages", communication_s(kernels[i].program), 0);
}

const struct real_experiment real_thesis = {programs, sizeof programs / sizeof programs[0], run};
