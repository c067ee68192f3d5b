#include "team.h"

int team_hosts(int argc, char **argv)
{
    int hosts = argc > 1 ? atoi(argv[argc - 1]) : 1;
    CHECK(hosts >= 1);
    if (hosts > 1)
        check_hosts(hosts);
    return hosts;
}

void team_start(struct team *t, const char *role, int argument, int n, int hosts)
{
    char text[16];
    CHECK(n <= TEAM_MAX);
    snprintf(text, sizeof text, "%d", argument);
    t->size = n;
    if (hosts == 1) {
        check_spawn(role, text, ".", n, t->tids);
        return;
    }
    for (int i = 0; i < n; i++)
        check_spawn(role, text, check_host_name(i % hosts), 1, &t->tids[i]);
}

void team_finish(struct team *t)
{
    for (int i = 0; i < t->size; i++)
        check_receive_int(t->tids[i], TAG_TEAM_DONE);
    check_wait_exit(t->size, t->tids);
}

int team_argument(int argc, char **argv)
{
    CHECK(argc > 1);
    return atoi(argv[1]);
}

void team_done(void)
{
    check_send_int(pvm_parent(), TAG_TEAM_DONE, 1);
}

int team_join(const char *group, int n)
{
    int instance = pvm_joingroup((char *)group);
    CHECK(instance >= 0 && instance < n);
    CHECK_EQ(pvm_barrier((char *)group, n), 0);
    return instance;
}

int team_join_kind(const char *group, int n, int frozen)
{
    int instance = team_join(group, n);
    if (frozen)
        CHECK_EQ(pvm_freezegroup((char *)group, n), n);
    return instance;
}

bool team_has_board(void)
{
    char line[512];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECK(maps);
    while (fgets(line, sizeof line, maps))
        found = found || strstr(line, "pvm-board");
    fclose(maps);
    return found;
}

double team_now_us(void)
{
    return check_now() * 1e6;
}
