/* newcomer.c - see newcomer.h. */
#include "newcomer.h"
#include "arrival.h"
#include "tokens.h"
#include <openssl/crypto.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/clock.h"
#include "core/config.h"
#include "core/error.h"
#include "core/log.h"
#include "core/version.h"
#include "fanout.h"
#include "pvmd/base/own_path.h"
#include "pvmd/base/self.h"
#include "pvmd/net/link.h"
#include "pvmd/launch/launchers/launchers.h"
#include "pvmd/launch/manual.h"
#include "pvm3.h"
#include "pvmd/launch/startup.h"

#define AGAIN_S      0.2 /* before a daemon is started where another one is about to end */
#define AGAIN_HERE_S 1.  /* ... where one that a member has started may wait for its time limit */
#define SLOW_S       5. /* a launch here that takes longer makes room for another one, so that dead hosts delay nobody */
#define NOTICE_US    4000000 /* more than 1.5 x PVM_HOST_TIMEOUT, for a daemon whose master is lost to end */

static double start_limit_s(void)
{
    return (double)pvmc_config_us(PVMC_SETTING_START_TIMEOUT) / 1e6;
}

static const char *target_of(const struct pvmd_newcomer *n)
{
    return n->spec.ip ? n->spec.ip : n->spec.name;
}

/* ---- failure and success ---- */

/* It needs no room at the host that launches it any more. */
static void make_room(struct pvmd_newcomer *n)
{
    ev_timer_stop(pvmd.loop, &n->slow);
    if (n->counts)
        pvmd_fanout_end(n->at);
    n->counts = false;
}

static void stop(struct pvmd_newcomer *n)
{
    make_room(n);
    ev_timer_stop(pvmd.loop, &n->limit);
    ev_timer_stop(pvmd.loop, &n->again);
    if (n->resolve)
        pvmd_resolve_cancel(n->resolve);
    if (n->launch)
        pvmd_launch_cancel(n->launch);
    if (n->delegate)
        pvmd_delegate_cancel(n->delegate);
    if (n->hosting)
        pvmd_hoster_cancel(n->hosting);
    n->resolve = NULL;
    n->launch = NULL;
    n->delegate = NULL;
    n->hosting = NULL;
    OPENSSL_cleanse(&n->key, sizeof n->key);
}

static void end_arrival(struct pvmd_newcomer *n, int code, const char *why)
{
    if (n->arrival)
        pvmd_arrival_refuse(n->arrival, code, why ? why : pvmc_error_text(code));
    n->arrival = NULL;
}

/* Of the token of a host that is linked, and does not become a member. */
static void give_use_back(struct pvmd_newcomer *n)
{
    if (n->token)
        pvmd_tokens_give_back(n->token);
    n->token = 0;
}

static void settle(struct pvmd_newcomer *n, enum pvmd_newcomer_phase phase)
{
    bool tell = n->phase < PVMD_NEWCOMER_LINKED;
    n->phase = phase;
    if (tell)
        n->settled(n);
}

/* Tells also what a member has said, which then is not to blame. */
static void blame_host(struct pvmd_newcomer *n)
{
    char *both;
    if (n->why && asprintf(&both, "%s; %s", n->why, n->elsewhere) >= 0) {
        free(n->why);
        n->why = both;
    }
    pvmd_fanout_clear(n->suspect);
}

void pvmd_newcomer_fail(struct pvmd_newcomer *n, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (vasprintf(&n->why, format, args) < 0) /* before the owner of the texts is freed */
        n->why = NULL;
    va_end(args);
    if (n->elsewhere)
        blame_host(n);
    end_arrival(n, code, n->why);
    stop(n);
    if (n->host) {
        give_use_back(n);
        pvmd_link_close(n->host);
        pvmd_host_free(n->host);
        n->host = NULL;
    }
    n->status = code;
    if (code != PvmAlready) /* a manual start, whose text is for the user only */
        pvmc_log(PVMC_LOG_WARNING, "host %s is not added: %s", n->spec.name ? n->spec.name : "?",
                 n->why ? n->why : pvmc_error_text(code));
    settle(n, PVMD_NEWCOMER_DONE);
}

void pvmd_newcomer_clear(struct pvmd_newcomer *n)
{
    end_arrival(n, PvmDSysErr, "the master's daemon ends");
    give_use_back(n);
    stop(n);
    pvmd_host_spec_free(&n->spec);
    free(n->why);
    free(n->elsewhere);
    n->why = n->elsewhere = NULL;
}

/* A member could not launch it: it waits for its turn here. */
static void come_back(struct pvmd_newcomer *n, const char *why)
{
    const struct pvmd_host *member = pvmd_host_any(n->at);
    if (asprintf(&n->elsewhere, "before, %s tried: %s", member ? member->name : "a host that has left", why) < 0)
        n->elsewhere = NULL;
    pvmc_log(PVMC_LOG_INFO, "host %s: %s could not start it: %s", n->host->name,
             member ? member->name : "a host that has left", why);
    n->suspect = n->at;
    pvmd_fanout_suspect(n->at);
    stop(n);
    n->stays = true;
    n->again_until_us = pvmc_clock_us() + pvmc_config_us(PVMC_SETTING_START_TIMEOUT);
    n->phase = PVMD_NEWCOMER_TURN;
    n->settled(n);
}

static bool is_away(const struct pvmd_newcomer *n)
{
    return n->at != pvmd.host_index;
}

bool pvmd_newcomer_comes_back(struct pvmd_newcomer *n, const char *why)
{
    if (n->phase != PVMD_NEWCOMER_LINK || !is_away(n) || pvmd_host_by_index(n->at))
        return false;
    pvmd_link_close(n->host);
    pvmd_host_set_state(n->host, PVMD_HOST_LAUNCHING);
    come_back(n, why);
    return true;
}

static void limit_event(struct ev_loop *loop, ev_timer *w, int events)
{
    struct pvmd_newcomer *n = w->data;
    double limit_s = n->limit_s;
    (void)loop, (void)events;
    if (n->phase == PVMD_NEWCOMER_NAME) {
        pvmd_newcomer_fail(n, PvmNoHost, "the name service has not found %s within %g s", target_of(n), limit_s);
    } else if (n->phase == PVMD_NEWCOMER_LAUNCH && n->delegate) {
        char why[128];
        snprintf(why, sizeof why, "%s has not started a daemon within %g s", n->launcher->label, limit_s);
        come_back(n, why);
    } else if (n->phase == PVMD_NEWCOMER_LAUNCH) {
        const char *words = n->launch ? pvmd_launch_last_words(n->launch) : "";
        pvmd_newcomer_fail(n, PvmCantStart, "%s has not started a daemon within %g s (PVM_START_TIMEOUT)%s%s",
                           n->launcher->label, limit_s, *words ? "; it said: " : "", words);
    } else {
        const char *why = pvmd_link_why(n->host);
        pvmd_newcomer_fail(n, PvmCantStart, "its daemon runs but could not be linked within %g s%s%s", limit_s,
                           *why ? ": " : "", why);
    }
}

/* ---- launch ---- */

static const enum pvmc_setting passed_on[] = {
    PVMC_SETTING_ALLOW_ROOT,    PVMC_SETTING_START_TIMEOUT, PVMC_SETTING_HOST_TIMEOUT, PVMC_SETTING_FAILOVER,
    PVMC_SETTING_QUEUE_MAX,     PVMC_SETTING_LOG_MAX,       PVMC_SETTING_DEBUG_MASK,   PVMC_SETTING_PORT,
    PVMC_SETTING_END_TIMEOUT,   PVMC_SETTING_LOG_TO,        PVMC_SETTING_METRICS,      PVMC_SETTING_LEAVE_TIMEOUT,
    PVMC_SETTING_LAUNCH_FANOUT, PVMC_SETTING_LAUNCH_TREE,   PVMC_SETTING_LINK_IDLE};

_Static_assert(PVMD_START_SETTINGS >= 4 + sizeof passed_on / sizeof *passed_on + PVMC_CARRIED_COUNT,
               "a start text has too little room for settings");

static void add_setting(struct pvmd_start_text *t, const char *name, const char *value)
{
    t->settings[t->setting_count++] = (struct pvmd_start_setting){.name = (char *)name, .value = (char *)value};
}

static void add_if_set(struct pvmd_start_text *t, enum pvmc_setting which)
{
    if (strcmp(pvmc_config_origin(which), "default"))
        add_setting(t, pvmc_setting_table[which].name, pvmc_config_text(which));
}

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

static bool is_loopback(const struct pvmd_newcomer *n)
{
    return n->found.count && pvmw_address_is_loopback(&n->found.list[0]);
}

/* Whether the new daemon runs on this machine. */
static bool is_local(const struct pvmd_newcomer *n)
{
    enum pvmd_launch_where where = n->launcher->where;
    return where == PVMD_WHERE_HERE || (where == PVMD_WHERE_NAMED && is_loopback(n)) ||
           (n->arrival && pvmd_arrival_is_local(n->arrival));
}

/* Makes the slave's start text; it borrows its strings. */
static struct pvmd_start_text text_for(const struct pvmd_newcomer *n, const char *listen_ip)
{
    const struct pvmd_host *self = pvmd_host_self(), *h = n->host;
    struct pvmd_start_text t = {.machine = pvmd_secrets->own.machine,
                                .master_index = self->index,
                                .master_incarnation = self->incarnation,
                                .master_port = self->port,
                                .master_name = self->name,
                                .index = h->index,
                                .incarnation = h->incarnation,
                                .name = h->name,
                                .speed = h->speed,
                                .slots = n->spec.slots,
                                .exec_path = (char *)or_empty(n->spec.exec_path),
                                .working_dir = (char *)or_empty(n->spec.working_dir),
                                .debugger = (char *)or_empty(n->spec.debugger),
                                .listen_ip = (char *)listen_ip,
                                .shares_machine = n->spec.overload || is_local(n)};
    add_setting(&t, "PVM_VMID", n->spec.vmid ? n->spec.vmid : pvmc_config_text(PVMC_SETTING_VMID));
    for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++)
        add_if_set(&t, passed_on[i]);
    for (size_t i = 0; i < PVMC_CARRIED_COUNT; i++)
        add_if_set(&t, pvmc_setting_carried[i]);
    if (n->spec.atm_host || is_local(n)) /* a local slave must not inherit the master's */
        add_setting(&t, "PVM_ATM_HOST", or_empty(n->spec.atm_host));
    if (is_away(n)) /* the member knows it */
        memset(t.machine.secret, 0, sizeof t.machine.secret);
    if (is_local(n))
        add_setting(&t, "PVM_SLOTS", "");
    if (n->launcher->way == PVMD_WAY_USER)
        add_setting(&t, "PVM_START_TIMEOUT", PVMD_MANUAL_LIMIT);
    return t;
}

static char *format_text(const struct pvmd_newcomer *n)
{
    char ip[PVMW_ADDRESS_TEXT] = "";
    if (is_local(n) && n->found.count)
        pvmw_address_ip(&n->found.list[0], ip, sizeof ip);
    struct pvmd_start_text t = text_for(n, ip);
    char *text = pvmd_start_text_format(&t);
    OPENSSL_cleanse(&t, sizeof t);
    return text;
}

static void launch_started(void *owner, const struct pvmd_start_line *line);

static int64_t became_master_us; /* after another one was lost; 0: we are the first */

void pvmd_newcomer_master_changed(void)
{
    became_master_us = pvmc_clock_us();
}

/*
 * The daemon there may be one that the lost master has started. It ends when it hears from us that it is no member, or
 * when it has noticed that the master is lost, and waited in vain for another one.
 */
static bool may_end_soon(void)
{
    int64_t notice_us = pvmc_config_us(PVMC_SETTING_HOST_TIMEOUT) * 3 / 2 + NOTICE_US;
    return became_master_us && pvmc_clock_us() - became_master_us < notice_us;
}

static void launch(struct pvmd_newcomer *n);

static void again_event(struct ev_loop *loop, ev_timer *w, int events)
{
    (void)loop, (void)events;
    launch(w->data);
}

/* Starts over. */
static void set_limit(struct pvmd_newcomer *n, double limit_s)
{
    n->limit_s = limit_s;
    ev_timer_stop(pvmd.loop, &n->limit);
    ev_timer_set(&n->limit, limit_s, 0.);
    ev_timer_start(pvmd.loop, &n->limit);
}

static void launch_again(struct pvmd_newcomer *n)
{
    set_limit(n, start_limit_s());
    ev_timer_init(&n->again, again_event, may_end_soon() ? AGAIN_S : AGAIN_HERE_S, 0.);
    n->again.data = n;
    ev_timer_start(pvmd.loop, &n->again);
}

static bool wants_password(const struct pvmd_newcomer *n)
{
    return n->spec.start && !strcmp(n->spec.start, "pw");
}

/* If the name is unknown, that explains the failed launch. */
static void launch_failed(void *owner, int code, bool reached, const char *why)
{
    struct pvmd_newcomer *n = owner;
    n->launch = NULL;
    n->delegate = NULL;
    if (n->arrival) {
        n->arrival = NULL; /* it is gone */
        pvmd_newcomer_fail(n, code, "%s", why);
    } else if (is_away(n) && !reached)
        come_back(n, why);
    else if (code == PvmDupHost && (may_end_soon() || pvmc_clock_us() < n->again_until_us))
        launch_again(n);
    else if (code == PvmCantStart && wants_password(n))
        pvmd_newcomer_fail(
            n, code, "%s (so=pw: %s; or let ssh in by key, see ssh-copy-id, or start the daemon by hand with so=ms)",
            why,
            n->launcher->asks ? "the password must be right"
                              : "a password can be asked for where pvmd3 runs in the foreground of a "
                                "terminal, or SSH_ASKPASS is set");
    else if (code == PvmCantStart && !n->found.count)
        pvmd_newcomer_fail(n, PvmNoHost, "%s: %s; %s", target_of(n), n->not_found, why);
    else
        pvmd_newcomer_fail(n, code, "%s", why);
}

static const struct pvmd_launch_events launch_events = {.started = launch_started, .failed = launch_failed};

static const char *daemon_path(const struct pvmd_newcomer *n)
{
    const char *path = n->spec.daemon_path ? n->spec.daemon_path : pvmc_config_text(PVMC_SETTING_DPATH);
    return *path ? path : NULL;
}

/* Leaves time for a second try by the master if a member cannot reach the host, and for our own limit. */
static double connect_limit_s(const struct pvmd_newcomer *n)
{
    return start_limit_s() * (is_away(n) ? 1 : 2) / 3;
}

/* False and the reason in why[size] if it cannot start. */
static bool run_command(struct pvmd_newcomer *n, const char *text, char *why, size_t size)
{
    struct pvmd_launch_order order = {
        .target = target_of(n), .login = n->spec.login, .daemon_path = daemon_path(n), .connect_s = connect_limit_s(n)};
    struct pvmd_command command = {0};
    n->launcher->command(&order, &command);
    struct pvmd_delegate_order away = {.host_index = n->at,
                                       .label = n->launcher->label,
                                       .command = &command,
                                       .text = text,
                                       .limit_us = pvmc_config_us(PVMC_SETTING_START_TIMEOUT)};
    if (is_away(n))
        n->delegate = pvmd_delegate_start(&away, &launch_events, n);
    else
        n->launch = pvmd_launch_start(pvmd.loop, n->launcher->label, &command, text, &launch_events, n, why, size);
    pvmd_command_free(&command);
    return n->launch || n->delegate;
}

/* Runs the launcher's command, here or at a member, with `text` as its input, and frees the text. */
static void start_launch(struct pvmd_newcomer *n, char *text)
{
    char why[256] = "out of memory";
    n->phase = PVMD_NEWCOMER_LAUNCH;
    if (n->limit_s < n->launcher->limit_s)
        set_limit(n, n->launcher->limit_s);
    bool begun = text && run_command(n, text, why, sizeof why);
    if (text)
        OPENSSL_cleanse(text, strlen(text));
    free(text);
    if (!begun)
        launch_failed(n, PvmCantStart, false, why);
}

/*
 * The first call tells the user what to do, and the host's slot waits. The second call brings the line that the daemon
 * printed.
 */
static void start_by_hand(struct pvmd_newcomer *n)
{
    struct pvmd_start_line line;
    char *text = format_text(n);
    if (!text) {
        pvmd_newcomer_fail(n, PvmNoMem, "out of memory");
        return;
    }
    if (!n->spec.answer) {
        pvmd_manual_keep(n->host);
        n->host = NULL;
        pvmd_newcomer_fail(n, PvmAlready,
                           "start by hand: on %s type\n\n    pvmd3 -s\n\nand paste these lines there:\n\n%s\n"
                           "Then, within " PVMD_MANUAL_LIMIT " s, add the host again with the line that pvmd3 prints:"
                           "\n\n    add '%s so=ms ddpro<...> ...'\n",
                           target_of(n), text, n->spec.name);
    } else if (pvmd_start_line_parse(n->spec.answer, &line) == PVMD_LINE_START) {
        launch_started(n, &line);
    } else {
        pvmd_newcomer_fail(n, PvmBadParam, "'%.60s' is not what pvmd3 -s prints when it has started", n->spec.answer);
    }
    OPENSSL_cleanse(text, strlen(text));
    free(text);
}

/* ---- by a hoster ---- */

static void add_candidates(const struct pvmd_newcomer *n, const struct pvmd_start_line *line,
                           struct pvmw_addresses *candidates);
/* The code of an error's name, such as PvmCantStart; 0 for any other text. */
static int code_of_name(const char *name)
{
    static const struct {
        const char *name;
        int code;
    } names[] = {{"PvmCantStart", PvmCantStart},   {"PvmDupHost", PvmDupHost},   {"PvmDSysErr", PvmDSysErr},
                 {"PvmBadVersion", PvmBadVersion}, {"PvmOutOfRes", PvmOutOfRes}, {"PvmNoHost", PvmNoHost},
                 {"PvmDenied", PvmDenied},         {"PvmNoFile", PvmNoFile},     {"PvmNoMem", PvmNoMem},
                 {"PvmBadParam", PvmBadParam},     {"PvmSysErr", PvmSysErr}};
    size_t length = strcspn(name, " \t\r\n");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (length == strlen(names[i].name) && !strncmp(name, names[i].name, length))
            return names[i].code;
    return 0;
}

/* The daemon started by the hoster waits for us. */
static void call_hosted(struct pvmd_newcomer *n, const struct pvmd_start_line *line)
{
    struct pvmw_addresses candidates = {0};
    char *start = format_text(n), *text = NULL;
    add_candidates(n, line, &candidates);
    if (start)
        text = pvmd_courier_text(&n->key, line->key, &candidates, start);
    if (start)
        OPENSSL_cleanse(start, strlen(start));
    free(start);
    start_launch(n, text);
}

static void hoster_answered(void *owner, const char *result)
{
    struct pvmd_newcomer *n = owner;
    struct pvmd_start_line line;
    int code = code_of_name(result);
    n->hosting = NULL;
    enum pvmd_start_line_kind kind = code ? PVMD_LINE_NOISE : pvmd_start_line_parse(result, &line);
    if (kind == PVMD_LINE_START && *line.key)
        call_hosted(n, &line);
    else if (kind == PVMD_LINE_OTHER_VERSION)
        pvmd_newcomer_fail(n, PvmBadVersion, "the hoster has started a daemon of another version or another PVM");
    else if (kind == PVMD_LINE_ERROR)
        pvmd_newcomer_fail(n, line.code, "%s", line.why);
    else
        pvmd_newcomer_fail(n, code ? code : PvmCantStart, "the hoster answered \"%.200s\"", result);
}

static void hoster_lost(void *owner)
{
    struct pvmd_newcomer *n = owner;
    n->hosting = NULL;
    launch(n);
}

static const struct pvmd_hosting_events hosting_events = {.answered = hoster_answered, .lost = hoster_lost};

/* A plain command without quotes, because hosters may treat quotes differently. */
static void ask_hoster(struct pvmd_newcomer *n)
{
    char key[PVMD_COURIER_KEY_TEXT], *command = NULL, *login = NULL;
    const char *path = daemon_path(n);
    n->phase = PVMD_NEWCOMER_LAUNCH;
    if (!pvmd_courier_key_new(&n->key)) {
        pvmd_courier_key_text(&n->key, key);
        if (asprintf(&command, "%s -s -k %s", path ? path : pvmd_own_path(), key) < 0)
            command = NULL;
        if (asprintf(&login, "%s%s%s", or_empty(n->spec.login), n->spec.login ? "@" : "", target_of(n)) < 0)
            login = NULL;
    }
    struct pvmd_hosting_order order = {.host = pvmc_tid_of_host_index(n->host->index),
                                       .options = or_empty(n->spec.start),
                                       .login = login,
                                       .command = command};
    if (login && command)
        n->hosting = pvmd_hoster_ask(&order, &hosting_events, n);
    free(login);
    free(command);
    if (!n->hosting)
        pvmd_newcomer_fail(n, PvmNoMem, "cannot ask the hoster: out of memory or keys");
}

/* ---- name and launcher ---- */

static const struct pvmd_launcher *choose_launcher(const struct pvmd_newcomer *n)
{
    struct pvmd_launch_wish wish = {.start = n->spec.start,
                                    .loopback = is_loopback(n),
                                    .answered = n->spec.answer != NULL,
                                    .joins = n->arrival != NULL};
    return pvmd_launcher_choose(&wish);
}

/* Its daemon waits for the start text. */
static void start_arrival(struct pvmd_newcomer *n)
{
    n->phase = PVMD_NEWCOMER_LAUNCH;
    if (pvmd_arrival_is_revoked(n->arrival)) {
        pvmd_newcomer_fail(n, PvmDenied, "the token is revoked");
        return;
    }
    char *text = format_text(n);
    if (!text) {
        pvmd_newcomer_fail(n, PvmNoMem, "out of memory");
        return;
    }
    pvmd_arrival_start(n->arrival, text, &launch_events, n);
    OPENSSL_cleanse(text, strlen(text));
    free(text);
}

static void launch_by(struct pvmd_newcomer *n, enum pvmd_launch_way way)
{
    switch (way) {
    case PVMD_WAY_COMMAND:
        start_launch(n, format_text(n));
        break;
    case PVMD_WAY_USER:
        start_by_hand(n);
        break;
    case PVMD_WAY_HOSTER:
        ask_hoster(n);
        break;
    case PVMD_WAY_ARRIVAL:
        start_arrival(n);
        break;
    }
}

static bool can_travel(const struct pvmd_launcher *l)
{
    return l && l->travels && l->way == PVMD_WAY_COMMAND;
}

/* As far as it is known before its name is looked up. */
bool pvmd_newcomer_travels(const struct pvmd_newcomer *n)
{
    union pvmw_address address;
    struct pvmd_launch_wish wish = {.start = n->spec.start, .answered = n->spec.answer != NULL};
    wish.loopback = !pvmw_address_parse(target_of(n), 0, &address) && pvmw_address_is_loopback(&address);
    return !n->stays && can_travel(pvmd_launcher_choose(&wish));
}

/* Its name has turned out to be one of this machine, or a hoster has come: it waits for its turn here. */
static void stay(struct pvmd_newcomer *n)
{
    stop(n);
    n->stays = true;
    n->phase = PVMD_NEWCOMER_TURN;
    n->settled(n);
}

static void launch(struct pvmd_newcomer *n)
{
    n->launcher = choose_launcher(n);
    if (is_away(n) && !can_travel(n->launcher))
        stay(n);
    else if (!n->launcher)
        pvmd_newcomer_fail(n, PvmBadParam, "PVM_LAUNCHER=%s: it must be one of %s",
                           pvmc_config_text(PVMC_SETTING_LAUNCHER), pvmd_launcher_names());
    else if (n->launcher->where == PVMD_WHERE_HERE && !n->found.count)
        pvmd_newcomer_fail(n, PvmNoHost, "%s: %s", target_of(n), n->not_found);
    else
        launch_by(n, n->launcher->way);
}

static void resolved(void *arg, const struct pvmw_addresses *found, const char *why)
{
    struct pvmd_newcomer *n = arg;
    n->resolve = NULL;
    n->found = *found;
    snprintf(n->not_found, sizeof n->not_found, "%s", or_empty(why));
    launch(n);
}

static void slow_event(struct ev_loop *loop, ev_timer *w, int events)
{
    struct pvmd_newcomer *n = w->data;
    (void)loop, (void)events;
    if (n->launcher && n->launcher->asks)
        return; /* one question after the other */
    make_room(n);
    n->settled(n);
}

/* Its place among the launches of the host that launches it. */
static void take_room(struct pvmd_newcomer *n, unsigned at)
{
    n->at = at;
    n->counts = !n->arrival;
    if (n->counts)
        pvmd_fanout_begin(at);
    ev_timer_init(&n->slow, slow_event, SLOW_S, 0.);
    n->slow.data = n;
    if (n->counts && !is_away(n))
        ev_timer_start(pvmd.loop, &n->slow);
}

void pvmd_newcomer_begin(struct pvmd_newcomer *n, unsigned at)
{
    take_room(n, at);
    n->limit_s = start_limit_s();
    ev_timer_init(&n->again, again_event, AGAIN_S, 0.);
    ev_timer_init(&n->limit, limit_event, n->limit_s, 0.);
    n->limit.data = n;
    ev_timer_start(pvmd.loop, &n->limit);
    if (n->arrival) {
        launch(n);
        return;
    }
    n->phase = PVMD_NEWCOMER_NAME;
    n->resolve = pvmd_resolve_start(pvmd.loop, target_of(n), resolved, n);
    if (!n->resolve)
        pvmd_newcomer_fail(n, PvmOutOfRes, "cannot look its name up: out of memory or threads");
}

/* ---- link ---- */

static void add_addresses(struct pvmw_addresses *to, const struct pvmw_addresses *from, uint16_t port)
{
    for (unsigned i = 0; i < from->count; i++) {
        union pvmw_address a = from->list[i];
        pvmw_address_set_port(&a, port);
        pvmw_addresses_add(to, &a);
    }
}

/* Most likely first: the address asked for, ssh's, those of the name, and those of the slave's interfaces. */
static void add_candidates(const struct pvmd_newcomer *n, const struct pvmd_start_line *line,
                           struct pvmw_addresses *candidates)
{
    if (n->arrival) {
        union pvmw_address a = *pvmd_arrival_address(n->arrival);
        pvmw_address_set_port(&a, line->port);
        pvmw_addresses_add(candidates, &a);
    }
    if (n->spec.ip || is_local(n))
        add_addresses(candidates, &n->found, line->port);
    add_addresses(candidates, &line->ssh, line->port);
    add_addresses(candidates, &n->found, line->port);
    add_addresses(candidates, &line->addresses, line->port);
}

static void launch_started(void *owner, const struct pvmd_start_line *line)
{
    struct pvmd_newcomer *n = owner;
    struct pvmw_addresses candidates = {0};
    add_candidates(n, line, &candidates);
    n->phase = PVMD_NEWCOMER_LINK;
    if (strcmp(line->version, pvmc_version) != 0)
        pvmc_log(PVMC_LOG_INFO, "%s has dpvm %s, this host %s; they work together", n->host->name,
                 *line->version ? line->version : "of unknown version", pvmc_version);
    n->host->dsig = line->dsig;
    n->host->slots = line->slots;
    n->host->port = line->port;
    pvmd_host_set_text(&n->host->arch, line->arch);
    pvmd_host_set_state(n->host, PVMD_HOST_LINKING);
    if (candidates.count)
        pvmd_link_call(n->host, &candidates);
    else
        pvmd_newcomer_fail(n, PvmCantStart, "its daemon has no address that it could be called at");
}

void pvmd_newcomer_link_up(struct pvmd_newcomer *n)
{
    ev_timer_stop(pvmd.loop, &n->limit);
    make_room(n);
    if (n->launch)
        pvmd_launch_release(n->launch);
    if (n->delegate)
        pvmd_delegate_release(n->delegate);
    if (n->arrival) {
        n->token = pvmd_arrival_token(n->arrival);
        pvmd_arrival_release(n->arrival);
    }
    n->launch = NULL;
    n->delegate = NULL;
    n->arrival = NULL;
    settle(n, PVMD_NEWCOMER_LINKED);
}
