/* main.c - pvmd3's command line. */
#include <argp.h>
#include <errno.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/config.h"
#include "core/message/dsig.h"
#include "core/message/proto.h"
#include "core/reserve.h"
#include "core/version.h"
#include "pvmd/base/hosts.h"
#include "pvmd/launch/courier.h"
#include "daemon.h"
#include "leaver.h"
#include "pvmd/door/doorman.h"
#include "pvmd/launch/password.h"
#include "pvm3.h"

static const char doc[] =
    "The daemon of a parallel virtual machine: starts one on this host, with the hosts of HOSTFILE if there is one, "
    "and "
    "prints the path of the socket where its tasks connect.\v"
    "Environment variables are listed by \"pvm-info -c\"; hostfiles are described in hostfile(5).";

enum { KEY_ACCEPT = 256, KEY_JOIN, KEY_TOKEN_FILE, KEY_SPEED, KEY_SLOTS, KEY_LEAVE, KEY_GRACE };

static const struct argp_option arguments[] = {
    {NULL, 'd', "MASK", 0, "Log debug lines, too; the mask is a number, 0 is none", 0},
    {NULL, 'n', "NAME", 0, "This host's name in the machine", 0},
    {NULL, 'f', NULL, 0, "Keep standard error to the terminal", 0},
    {"log", 'l', "WHERE", 0, "Log to: file (in PVM_TMP; the default), stderr, journal (systemd's)", 0},
    {"leave", KEY_LEAVE, NULL, 0, "Have this host leave the machine once its tasks have ended, and end its daemon", 0},
    {"grace", KEY_GRACE, "SECONDS", 0, "With --leave: how long its tasks may take (default: PVM_LEAVE_TIMEOUT)", 0},
    {NULL, 't', NULL, 0, "Print versions and data format, and end", 0},
    {"accept", KEY_ACCEPT, "FILE", 0, "Accept daemons that join with the token in FILE (\"pvm token --offline\")", 0},
    {"join", KEY_JOIN, "ADDRESS", 0,
     "Join the machine that has a daemon at ADDRESS, HOST:PORT[,HOST:PORT...], and stay", 0},
    {"token-file", KEY_TOKEN_FILE, "FILE", 0,
     "The token to join with; -: standard input; default: the systemd credential pvm-token", 0},
    {"speed", KEY_SPEED, "N", 0, "When joining: this host's speed, 1 to 1000000", 0},
    {"slots", KEY_SLOTS, "N", 0, "When joining: how many tasks this host wants; default: its processors", 0},
    {NULL, 's', NULL, OPTION_HIDDEN, NULL, 0},
    {NULL, 'J', NULL, OPTION_HIDDEN, NULL, 0},
    {NULL, 'S', NULL, OPTION_HIDDEN, NULL, 0},
    {NULL, 'k', "KEY", OPTION_HIDDEN, NULL, 0},
    {NULL, 'K', NULL, OPTION_HIDDEN, NULL, 0},
    {NULL, 'D', NULL, OPTION_HIDDEN, NULL, 0},
    {0},
};

static void print_version(FILE *to, struct argp_state *state)
{
    (void)state;
    pvmc_version_print(to, "pvmd3");
}

static void print_versions(void)
{
    print_version(stdout, NULL);
    printf("protocol of tasks %d, of daemons %d\narchitecture %s, data signature 0x%08x\n", PVMC_TASK_PROTOCOL,
           PVMC_DAEMON_PROTOCOL, pvmc_arch_own(), pvmc_dsig_own());
    exit(0);
}

static void set_mask(const char *text, struct pvmd_options *options, struct argp_state *state)
{
    char *end;
    options->debug_mask = (int)strtoul(text, &end, 0);
    if (*end || end == text)
        argp_error(state, "-d takes a number such as 0x1, not \"%s\"", text);
}

static void set_grace(const char *text, struct pvmd_options *options, struct argp_state *state)
{
    char why[512];
    const char *name = pvmc_setting_table[PVMC_SETTING_LEAVE_TIMEOUT].name;
    if (!*text || pvmc_config_check(PVMC_SETTING_LEAVE_TIMEOUT, text, why, sizeof why) || setenv(name, text, 1))
        argp_error(state, "--grace takes a time in seconds such as 15, 0.5 or 200ms, not \"%s\"", text);
    options->leave_grace_us = (uint64_t)pvmc_config_us(PVMC_SETTING_LEAVE_TIMEOUT);
    options->grace = true;
}

/* --leave starts no daemon, and is for the one that runs. */
static void check_leave(const struct pvmd_options *options, struct argp_state *state)
{
    if (options->grace && !options->leave)
        argp_error(state, "--grace belongs to --leave");
    if (options->leave && (options->hostfile || options->host_name || options->foreground || options->accept ||
                           options->application.address))
        argp_error(state, "--leave is about the daemon that runs here, and takes only --grace");
}

static int read_number(const char *option, const char *text, long max, struct argp_state *state)
{
    char *end;
    long number = strtol(text, &end, 10);
    if (*end || end == text || number < 1 || number > max)
        argp_error(state, "%s takes a number from 1 to %ld, not \"%s\"", option, max, text);
    return (int)number;
}

/* At the end of the command line. */
static void check(const struct pvmd_options *options, struct argp_state *state)
{
    const struct pvmd_application *a = &options->application;
    if (!a->address && (a->token_file || a->speed || a->slots))
        argp_error(state, "--token-file, --speed and --slots go with --join ADDRESS");
    if (a->address && (options->hostfile || options->accept))
        argp_error(state, "a daemon that joins a machine takes no HOSTFILE and accepts no token of its own");
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct pvmd_options *options = state->input;
    switch (key) {
    case 'd':
        set_mask(text, options, state);
        return 0;
    case 'n':
        options->host_name = options->application.name = text;
        return 0;
    case 'l': /* as a setting, so that it passes on to added hosts */
        return setenv(pvmc_setting_table[PVMC_SETTING_LOG_TO].name, text, 1) ? errno : 0;
    case KEY_LEAVE:
        options->leave = true;
        return 0;
    case KEY_GRACE:
        set_grace(text, options, state);
        return 0;
    case 'f':
        options->foreground = true;
        return 0;
    case 't':
        print_versions();
        return 0;
    case KEY_ACCEPT:
        options->accept = text;
        return 0;
    case KEY_JOIN:
        options->application.address = text;
        return 0;
    case KEY_TOKEN_FILE:
        options->application.token_file = text;
        return 0;
    case KEY_SPEED:
        options->application.speed = read_number("--speed", text, PVMD_SPEED_MAX, state);
        return 0;
    case ARGP_KEY_END:
        check(options, state);
        check_leave(options, state);
        return 0;
    case KEY_SLOTS:
        options->application.slots = read_number("--slots", text, PVMD_SLOTS_MAX, state);
        return 0;
    case 'J':
        options->joined = options->slave = true;
        return 0;
    case 's':
    case 'S':
        options->slave = true;
        return 0;
    case 'k':
        options->courier_key = text;
        return 0;
    case 'D':
        exit(pvmd_doorman_run());
    case 'K':
        exit(pvmd_courier_run());
    case ARGP_KEY_ARG:
        if (options->hostfile)
            argp_error(state, "one hostfile at most; \"%s\" is the second", text);
        options->hostfile = text;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* OpenSSL cannot start without memory, so it may use the reserve as well. */
static void *crypto_malloc(size_t bytes, const char *file, int line)
{
    (void)file, (void)line;
    return bytes ? malloc(bytes) : NULL;
}

static void *crypto_realloc(void *block, size_t bytes, const char *file, int line)
{
    (void)file, (void)line;
    if (bytes)
        return realloc(block, bytes);
    free(block);
    return NULL;
}

static void crypto_free(void *block, const char *file, int line)
{
    (void)file, (void)line;
    free(block);
}

/* A daemon that a task starts is no part of the task's machine, and outlives it: see sweep.h. */
static void leave_machine_of_starter(void)
{
    char *number = getenv("PVMEPID"); /* where /proc shows it, too */
    if (number)
        memset(number, '0', strlen(number));
    unsetenv("PVMEPID");
}

int main(int argc, char **argv)
{
    static const struct argp parser = {.options = arguments, .parser = parse, .args_doc = "[HOSTFILE]", .doc = doc};
    pvmc_reserve_start();
    leave_machine_of_starter();
    CRYPTO_set_mem_functions(crypto_malloc, crypto_realloc, crypto_free);
    const char *terminal = getenv(PVMD_ASK_AT);
    if (terminal && argc == 2 && argv[1][0] != '-') /* ssh runs us to ask a question */
        return pvmd_password_ask(terminal, argv[1]);
    unsetenv(PVMD_ASK_AT);
    struct pvmd_options options = {.debug_mask = (int)pvmc_config_integer(PVMC_SETTING_DEBUG_MASK),
                                   .leave_grace_us = PVMC_LEAVE_GRACE_SETTING};
    argp_program_version_hook = print_version;
    argp_parse(&parser, argc, argv, 0, NULL, &options);
    if (options.leave)
        return pvmd_leaver_run(options.leave_grace_us);
    int code = pvmd_run(&options);
    if (code != PVMD_START_ANEW)
        return code;
    execv("/proc/self/exe", argv);
    return EXIT_FAILURE;
}
