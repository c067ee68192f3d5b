/*
 * overlay.c - atm-sim overlay: what the servers of a topology cost, or those of rings and trees of several sizes. All
 * calls are made on the simulated network.
 */
#include <err.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/profile.h"
#include "command.h"
#include "overlay/survey.h"

enum { KEY_SERVERS = 256, KEY_VCIS, KEY_DIRECT, KEY_DIGEST };
enum { SERVERS_MAX = 256, SWITCH_HOSTS = 200 };

struct job {
    const char *file, *direct, *profile;
    unsigned first, last; /* servers; 0: a file */
    unsigned stations, vcis, branch;
    bool ring, tree, digest;
    const char *of_servers; /* an option that needs --servers */
    struct pvma_survey_options survey;
};

static const struct argp_option options[] = {
    {"servers", KEY_SERVERS, "N[-M]", 0, "Instead of a file: N servers, or 2 N, 4 N, ... up to M", 0},
    {"shape", 's', "SHAPE", 0, "Their shape: ring, tree, or both (default)", 0},
    {"stations", 'n', "NUMBER", 0, "Stations for each server (default: 1)", 0},
    {"vcis", KEY_VCIS, "NUMBER", 0, "VCIs of each station (default: any number)", 0},
    {"branch", 'b', "NUMBER", 0, "Servers below one of a tree (default: 2)", 0},
    {"direct", KEY_DIRECT, "WHICH", 0, "Who gets a VC of its own: server, all or none (default: by the shape)", 0},
    {"profile", 'p', "NAME", 0, "Profile of all hosts (default: ideal)", 0},
    {"calls", 'c', "NUMBER", 0, "Calls between pairs of stations drawn at random (default: 100)", 0},
    {"seed", 'S', "NUMBER", 0, "Seed of all random numbers (default: 1)", 0},
    {"digest", KEY_DIGEST, NULL, 0, "Show the digest of all events, too", 0},
    {0}};

/* ---- command line ---- */

static void set_sizes(struct job *job, char *arg, struct argp_state *state)
{
    char *dash = strchr(arg, '-');
    if (dash)
        *dash = 0;
    job->first = (unsigned)pvma_argument_number(arg, 1, SERVERS_MAX, "--servers", state);
    job->last =
        dash ? (unsigned)pvma_argument_number(dash + 1, job->first, SERVERS_MAX, "--servers", state) : job->first;
}

static void set_shape(struct job *job, const char *arg, struct argp_state *state)
{
    job->ring = !strcmp(arg, "ring") || !strcmp(arg, "both");
    job->tree = !strcmp(arg, "tree") || !strcmp(arg, "both");
    if (!job->ring && !job->tree)
        argp_error(state, "--shape=%s: give ring, tree or both", arg);
}

static unsigned servers_of_switch(const struct job *job)
{
    return SWITCH_HOSTS / (1 + job->stations);
}

static unsigned switches_of(const struct job *job, unsigned servers)
{
    return (servers + servers_of_switch(job) - 1) / servers_of_switch(job);
}

static void check(const struct job *job, struct argp_state *state)
{
    if (!job->file == !job->first)
        argp_error(state, "which overlay? Give a topology, or --servers=N");
    if (job->file && job->of_servers)
        argp_error(state, "%s belongs to --servers; a topology says it itself", job->of_servers);
    if (job->direct && strcmp(job->direct, "server") && strcmp(job->direct, "all") && strcmp(job->direct, "none"))
        argp_error(state, "--direct=%s: give server, all or none", job->direct);
    unsigned nodes = job->last * (1 + job->stations) + switches_of(job, job->last) + 1;
    if (job->first && nodes > PVMA_TOPOLOGY_NODES_MAX)
        argp_error(state, "%u servers with %u stations each are %u nodes, with their switches; at most %d", job->last,
                   job->stations, nodes, PVMA_TOPOLOGY_NODES_MAX);
    if (!pvma_profile_find(job->profile))
        argp_error(state, "--profile=%s: there is no such profile; atm-sim profiles lists them", job->profile);
}

/* Options of the overlays that --servers makes. */
static bool set_form(struct job *job, int key, char *arg, struct argp_state *state)
{
    switch (key) {
    case 's':
        job->of_servers = "--shape";
        set_shape(job, arg, state);
        return true;
    case 'n':
        job->of_servers = "--stations";
        job->stations = (unsigned)pvma_argument_number(arg, 1, 50, "--stations", state);
        return true;
    case KEY_VCIS:
        job->of_servers = "--vcis";
        job->vcis = (unsigned)pvma_argument_number(arg, 1, 65000, "--vcis", state);
        return true;
    case 'b':
        job->of_servers = "--branch";
        job->branch = (unsigned)pvma_argument_number(arg, 1, SERVERS_MAX, "--branch", state);
        return true;
    case KEY_DIRECT:
        job->of_servers = "--direct";
        job->direct = arg;
        return true;
    case 'p':
        job->of_servers = "--profile";
        job->profile = arg;
        return true;
    }
    return false;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct job *job = state->input;
    switch (key) {
    case KEY_SERVERS:
        return set_sizes(job, arg, state), 0;
    case 'c':
        return job->survey.calls = (unsigned)pvma_argument_number(arg, 1, 100000, "--calls", state), 0;
    case 'S':
        return job->survey.seed = (uint64_t)pvma_argument_number(arg, 0, INT64_MAX, "--seed", state), 0;
    case KEY_DIGEST:
        return job->digest = true, 0;
    case ARGP_KEY_ARG:
        if (job->file)
            argp_error(state, "one topology at a time");
        return job->file = arg, 0;
    case ARGP_KEY_END:
        return check(job, state), 0;
    }
    return set_form(job, key, arg, state) ? 0 : ARGP_ERR_UNKNOWN;
}

/* ---- topologies ---- */

/* Servers p1, p2, ... and stations h1, h2, ... on as many switches as they need, which one more joins. */
static char *describe(const struct job *job, unsigned servers, bool is_ring)
{
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    unsigned group = servers_of_switch(job), stations = servers * job->stations, switches = switches_of(job, servers);
    if (!out)
        pvma_out_of_memory();
    fprintf(out, "host p[1-%u] profile=%s\nhost h[1-%u] profile=%s", servers, job->profile, stations, job->profile);
    if (job->vcis)
        fprintf(out, " vcis=%u", job->vcis);
    fprintf(out, "\nswitch core ports=%u\n", switches < 2 ? 2 : switches);
    for (unsigned i = 0; i < switches; i++) {
        unsigned first = i * group, last = first + group < servers ? first + group : servers;
        fprintf(out, "switch s%u ports=%d\nlink s%u core\nlink p[%u-%u] s%u\nlink h[%u-%u] s%u\n", i, SWITCH_HOSTS + 1,
                i, first + 1, last, i, first * job->stations + 1, last * job->stations, i);
    }
    fprintf(out, "server q[1-%u] at=p[1-%u]\noverlay %s branch=%u mids=65535", servers, servers,
            is_ring ? "ring" : "tree", job->branch);
    if (job->direct)
        fprintf(out, " direct=%s", job->direct);
    fprintf(out, "\n");
    fclose(out);
    return text;
}

/* ---- results ---- */

static void print_heading(const struct job *job)
{
    printf("%-5s %7s %8s %5s %6s %5s %11s %11s %11s %6s %7s %6s %4s %8s%s\n", "shape", "servers", "stations", "calls",
           "hops", "most", "set-up ms", "most ms", "packet ms", "direct", "relayed", "failed", "VCIs", "messages",
           job->digest ? "  digest" : "");
}

static double ms(pvma_ps sum, unsigned count)
{
    return count ? (double)sum / (double)count / (double)PVMA_MS : 0;
}

static void print(const struct job *job, const struct pvma_topology *t, const struct pvma_survey *s, uint64_t digest)
{
    unsigned connected = s->direct + s->relayed;
    printf("%-5s %7u %8u %5u %6.2f %5u %11.3f %11.3f %11.3f %6u %7u %6u %4u %8" PRIu64,
           t->overlay.shape == PVMA_RING ? "ring" : "tree", s->servers, s->stations, s->calls,
           s->calls ? (double)s->hops / s->calls : 0, s->hops_max, ms(s->set_up, connected), ms(s->set_up_max, 1),
           ms(s->packet, connected), s->direct, s->relayed, s->failed, s->vcis_max, s->messages);
    if (job->digest)
        printf("  %016" PRIx64, digest);
    printf("\n");
}

/* Surveys one overlay. False after a message. */
static bool survey(const struct job *job, const struct pvma_topology *t)
{
    struct pvma_net *net = pvma_net_new(t, job->survey.seed);
    struct pvma_overlay *overlay = net ? pvma_overlay_new(net, t) : NULL;
    struct pvma_survey result = {0};
    if (overlay) {
        result = pvma_survey_run(overlay, &job->survey);
        print(job, t, &result, pvma_sim_digest(pvma_net_sim(net)));
    }
    if (result.left)
        warnx("%zu connections or identifiers have not come back", result.left);
    bool good = overlay && !result.left;
    pvma_overlay_free(overlay);
    pvma_net_free(net);
    return good;
}

static bool survey_file(const struct job *job)
{
    struct pvma_topology t;
    if (pvma_topology_load(job->file, &t))
        return false;
    bool good = t.overlay.line;
    if (!good)
        warnx("%s has no overlay; add lines overlay and server, see atm-topology(5)", job->file);
    else
        print_heading(job);
    good = good && survey(job, &t);
    pvma_topology_free(&t);
    return good;
}

static bool survey_size(const struct job *job, unsigned servers, bool is_ring)
{
    struct pvma_topology t;
    char *text = describe(job, servers, is_ring);
    bool good = !pvma_topology_parse("--servers", text, strlen(text), &t);
    free(text);
    if (!good)
        return false;
    good = survey(job, &t);
    pvma_topology_free(&t);
    return good;
}

int command_overlay(int argc, char **argv)
{
    static const struct argp argp = {options,
                                     parse,
                                     "FILE",
                                     "Connect the stations of an overlay of servers one after the other, and show what "
                                     "it costs: hops between servers, times, VCs.",
                                     NULL,
                                     NULL,
                                     NULL};
    struct job job = {.profile = "ideal",
                      .stations = 1,
                      .branch = 2,
                      .ring = true,
                      .tree = true,
                      .survey = {.calls = 100, .seed = 1}};
    argp_err_exit_status = EXIT_USAGE;
    argp_parse(&argp, argc, argv, 0, NULL, &job);
    if (job.file)
        return survey_file(&job) ? EXIT_SUCCESS : EXIT_FAILURE;
    bool good = true;
    print_heading(&job);
    for (int tree = 0; tree < 2; tree++)
        for (unsigned n = job.first; n <= job.last && good; n *= 2)
            if (tree ? job.tree : job.ring)
                good = survey_size(&job, n, !tree);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
