/* test_topology.c - the text format: its meaning, and the messages for mistakes. */
#include "lab.h"
#include "core/error.h"

START_TEST(ranges_and_defaults)
{
    struct pvma_topology t;
    const char *text = "# a comment\n"
                       "profile mine like=hp735 tx_pdu=5us send=flood mtu=4092 # and another\n"
                       "switch s model=asx100 ports=20 buffer=count:500\r\n"
                       "host h[1-16] profile=mine\nhost x\n\n"
                       "link h[1-16] s rate=taxi100 delay=500ns\n"
                       "link x s loss=0.5 ber=1e-9\n"
                       "pvc h1 h16 aal=3/4 flow=simplex service=vbr peak=10M mean=5M burst=20 paced=yes\n"
                       "source n at=s type=onoff rate=100M off-rate=1k on=1ms off=2ms copy=0.25 start=1s stop=2s\n"
                       "fail s h[2-3] at=1s for=2ms every=1s\nfail x s at=0";
    ck_assert_int_eq(pvma_topology_parse("t", text, strlen(text), &t), 0);
    ck_assert_uint_eq(t.node_count, 18);
    ck_assert_uint_eq(t.link_count, 17);
    ck_assert_int_eq(pvma_topology_node(&t, "h16"), 16);
    ck_assert_int_eq(pvma_topology_node(&t, "h17"), -1);
    const struct pvma_profile *p = t.nodes[1].profile;
    ck_assert_str_eq(p->name, "mine");
    ck_assert_int_eq(p->cost[PVMA_COST_tx_pdu], 5 * PVMA_US);
    ck_assert_int_eq(p->cost[PVMA_COST_send], 1);
    ck_assert_int_eq(p->cost[PVMA_COST_tx_byte], 51700); /* from hp735 */
    ck_assert_int_eq(p->origin[PVMA_COST_tx_byte], PVMA_FITTED);
    ck_assert_int_eq(p->origin[PVMA_COST_tx_pdu], PVMA_CHOSEN); /* no longer the paper's */
    const struct pvma_switch_options *sw = &t.nodes[0].sw;
    ck_assert_int_eq(sw->buffer, PVMA_BUFFER_COUNTED);
    ck_assert_uint_eq(sw->buffer_cells, 500);
    ck_assert_int_eq(sw->fabric_bps, INT64_C(2400000000));
    ck_assert_int_eq(t.links[0].options.rate_bps, PVMA_RATE_TAXI100);
    ck_assert_uint_eq(t.links[15].b_port, 15);
    ck_assert_double_eq(t.links[16].options.cell_loss, 0.5);
    ck_assert_int_eq(t.pvcs[0].contract.aal, PVMA_AAL34);
    ck_assert_int_eq(t.pvcs[0].contract.minimum.mean_bps, 5000000);
    ck_assert_int_eq(t.sources[0].options.stop, 2 * PVMA_S);
    ck_assert_uint_eq(t.failure_count, 3);
    ck_assert_uint_eq(t.failures[1].link, 2);
    ck_assert_int_eq(t.failures[1].every, PVMA_S);
    ck_assert_int_eq(t.failures[2].duration, 0);
    ck_assert_int_eq(t.links[0].options.t309, 10 * PVMA_S);
    pvma_topology_free(&t);
}
END_TEST

/* Each mistake is reported on its line, with a message that says what to do. */
START_TEST(mistakes)
{
    static const struct {
        const char *text;
        unsigned line;
        const char *says;
    } rows[] = {
        {"", 1, "there is no host"},
        {"host a\n", 1, "host a has no link; add: link a NODE"},
        {"hosts a\n", 1, "cannot begin a line"},
        {"host a\nhost b\nhost a\n", 3, "already declared on line 1"},
        {"host\n", 1, "too short; write: host NAME"},
        {"host 1a\n", 1, "is not a name"},
        {"host h[5-1]\n", 1, "not a range of names"},
        {"host h[1-99999]\n", 1, "not a range of names"},
        {"host a profile=zx81\n", 1, "no profile \"zx81\""},
        {"host a colour=red\n", 1, "no such option here"},
        {"host a profile=ideal profile=hp735\n", 1, "is given twice"},
        {"host a\nhost b\nlink a b speed=9\n", 3, "there are rate delay loss ber"},
        {"host a\nhost b\nlink a c\n", 3, "no node \"c\""},
        {"host a\nhost b\nlink a b rate=fast\n", 3, "give a rate"},
        {"host a\nhost b\nlink a b delay=3\n", 3, "give a time"},
        {"host a\nhost b\nlink a b loss=2\n", 3, "give a probability"},
        {"host a\nhost b\nlink a b fast\n", 3, "write key=value"},
        {"host a\nlink a a\n", 2, "from a to itself"},
        {"host a\nhost b\nhost c\nlink a b\nlink a c\n", 5,
         "has a link already at each of its adapters; give it adapters=2"},
        {"host a adapters=17\nhost b\nlink a b\n", 1, "give a number from 1 to 16"},
        {"host h[1-3]\nswitch s ports=2\nlink h[1-3] s\n", 3, "used all 2 ports"},
        {"host h[1-3]\nhost i[1-2]\nlink h[1-3] i[1-2]\n", 3, "3 nodes and 2"},
        {"switch s model=cisco\n", 1, "no model \"cisco\""},
        {"switch s buffer=lots\n", 1, "give cells, count:CELLS or infinite"},
        {"switch s credits=5\n", 1, "use model=an2"},
        {"switch s model=an2 ports=100\n", 1, "at most 64 ports"},
        {"switch s speedup=2\n", 1, "options of a crossbar; use model=an2"},
        {"switch s inputs=fifo\n", 1, "options of a crossbar; use model=an2"},
        {"switch s model=an2 speedup=0\n", 1, "give a number from 1 to 64"},
        {"switch s model=an2 inputs=fifo credits=5\n", 1, "leave out inputs=fifo"},
        {"switch s model=an2 epd=5\n", 1, "need output queues"},
        {"switch s buffer=count:9 ppd=yes\n", 1, "buffer=count: keeps all"},
        {"switch s buffer=9 epd=10\n", 1, "must not exceed the buffer"},
        {"switch s buffer=9 clp=10\n", 1, "must not exceed the buffer"},
        {"switch s police=maybe\n", 1, "give one of no|drop|tag"},
        {"switch s cdvt=5\n", 1, "give a time"},
        {"profile p tx_pdu=1us\n", 1, "name the profile to start from"},
        {"profile p like=ideal speed=9\n", 1, "no cost \"speed\""},
        {"profile p like=ideal tx_pdu=9\n", 1, "out of range or of the wrong kind"},
        {"profile p like=ideal mtu=0\n", 1, "must not be 0"},
        {"profile ideal like=ideal tx_pdu=1us\n", 1, "is taken or invalid"},
        {"host a\nhost b\nlink a b\npvc a a\n", 4, "from one host to another"},
        {"host a\nhost b\nlink a b\npvc a b aal=2\n", 4, "give 5, 3/4 or raw"},
        {"host a\nhost b\nlink a b\npvc a b paced=yes\n", 4, "needs the rate to pace to"},
        {"host a\nhost b\nlink a b\npvc a b service=best\n", 4, "give one of ubr|vbr|abr"},
        {"host a\nhost b\nlink a b\npvc a b mcr=1M\n", 4, "rates of service=abr"},
        {"host a\nhost b\nlink a b\npvc a b service=vbr icr=1M\n", 4, "rates of service=abr"},
        {"host a\nhost b\nlink a b\npvc a b service=abr flow=simplex\n", 4, "needs flow=duplex"},
        {"host a\nhost b\nlink a b\npvc a b service=abr mean=1M\n", 4, "give its minimum, mcr=RATE"},
        {"host a\nhost b\nlink a b\npvc a b service=abr peak=1M mcr=2M\n", 4, "must not exceed the peak"},
        {"host a\nhost b\nlink a b\nsource x from=a to=b rate=1M service=abr mean=1M\n", 4, "mcr=RATE"},
        {"switch s\nhost a\nlink a s\nsource x at=s rate=1M service=abr\n", 4, "has no VC, so it has no service"},
        {"host a\nhost b\nlink a b\nsource x at=a type=cbr rate=1M\n", 4, "no switch \"a\""},
        {"host a\nhost b\nlink a b\nsource x from=a type=cbr rate=1M\n", 4, "give its place"},
        {"host a\nhost b\nlink a b\nsource x from=a to=b type=cbr\n", 4, "give the rate"},
        {"host a\nhost b\nlink a b\nsource x from=a to=b type=onoff rate=1M\n", 4, "needs on=TIME and off=TIME"},
        {"host a\nhost b\nlink a b\nsource x from=a to=b type=cbr rate=1M start=2s stop=1s\n", 4, "stops before"},
        {"host a\nhost b\nlink a b\nsource x from=a to=b type=bernoulli rate=1M\n", 4, "rate of its slots"},
        {"host a\nhost b\nlink a b\nsource x from=a to=b type=bernoulli rate=2M slot=1M\n", 4, "rate of its slots"},
        {"host a\nhost b\nlink a b\nsource x from=a to=b type=bernoulli rate=1 slot=2M\n", 4, "1 to 1000000 times"},
        {"host a\nhost b\nlink a b\nsource x from=a to=b type=onoff spacing=constant rate=1M on=1us off=1us\n", 4,
         "at least a cell's time in on=TIME"},
        {"host a\nhost b\nlink a b\nsource x from=a to=a type=cbr rate=1M\n", 4, "leads to its own host"},
        {"host a\nhost b\nlink a b\nsource x from=a to=c[1-2] type=cbr rate=1M\n", 4, "there is no host \"c1\""},
        {"host a\nhost b\nlink a b\nsource x[1-2] from=a to=b type=cbr rate=1M\n", 4, "2 names for sources at 1"},
        {"host a\nhost b\nlink a b\nsource x from=a to=b rate=1M\nsource x from=b to=a rate=1M\n", 5,
         "source x is already declared on line 4"},
        {"host a\nhost b\nlink a b t309=1us\n", 3, "1ms or more"},
        {"host a\nhost b\nlink a b\nfail a b for=1s\n", 4, "give the time of the failure: at=TIME"},
        {"host a\nhost b\nlink a b\nfail a b\n", 4, "too short; write: fail NODE NODE at=TIME"},
        {"host a\nhost b\nlink a b\nfail a b at=1s every=1s\n", 4, "give for=TIME, shorter than it"},
        {"host a\nhost b\nlink a b\nfail a b at=1s for=2s every=2s\n", 4, "give for=TIME, shorter than it"},
        {"host a\nhost b\nlink a b\nfail a b at=1s link=2\n", 4, "there is no link 2 between a and b"},
        {"host a\nhost b\nlink a b\nfail a c at=1s\n", 4, "there is no node \"c\""},
        {"host a vcis=0\nhost b\nlink a b\n", 1, "give a number from 1 to 65000"},
        {"host a\nhost b\nlink a b\noverlay star\n", 4, "there is no overlay \"star\""},
        {"host a\nhost b\nlink a b\noverlay ring\n", 4, "has no server; add: server NAME at=HOST"},
        {"host a\nhost b\nlink a b\noverlay ring\noverlay tree\n", 5, "an overlay already on line 4"},
        {"host a\nhost b\nlink a b\noverlay ring direct=some\n", 4, "give one of server|all|none"},
        {"host a\nhost b\nlink a b\noverlay ring branch=0\n", 4, "give a number from 1 to 512"},
        {"host a\nhost b\nlink a b\noverlay ring detect=1us\n", 4, "1ms or more"},
        {"host a\nhost b\nlink a b\nserver p at=a\n", 4, "belongs to an overlay"},
        {"host a\nhost b\nlink a b\nstation a\n", 4, "stations belong to an overlay"},
        {"host a\nhost b\nlink a b\nserver p signal=1us\n", 4, "give the host of the server: at=HOST"},
        {"host a\nhost b\nlink a b\nserver p at=c\n", 4, "there is no host \"c\""},
        {"host a\nhost b\nlink a b\nserver p at=a\nserver p at=b\n", 5, "the name of server \"p\" is taken"},
        {"host a\nhost b\nlink a b\nserver p at=a\nserver q at=a\n", 5, "host a has a server"},
        {"host a\nhost b\nlink a b\nserver p[1-2] at=a\n", 4, "2 names for servers at 1 hosts"},
        {"host a\nhost b\nlink a b\nserver p at=a\nstation a\n", 5, "host a is a station or has a server"},
        {"host a\nhost b\nlink a b\nstation b server=p\n", 4, "there is no server \"p\""},
        {"host a\nhost b\nlink a b\nstation b\nserver p at=b\n", 5, "is a station already"},
        {"host a\1\n", 1, "not a text"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct pvma_topology t;
        char where[16];
        unit_log_start();
        ck_assert_int_eq(pvma_topology_parse("t", rows[i].text, strlen(rows[i].text), &t), PVMC_EFORMAT);
        ck_assert_uint_eq(t.node_count, 0);
        snprintf(where, sizeof where, "t:%u: ", rows[i].line);
        ck_assert_msg(!strncmp(unit_log.line, where, strlen(where)), "row %zu: %s", i, unit_log.line);
        ck_assert_msg(strstr(unit_log.line, rows[i].says), "row %zu: %s", i, unit_log.line);
    }
}
END_TEST

START_TEST(at_most_ten_messages)
{
    struct pvma_topology t;
    char text[400] = "";
    for (int i = 0; i < 30; i++)
        strcat(text, "nonsense\n");
    unit_log_start();
    ck_assert_int_eq(pvma_topology_parse("t", text, strlen(text), &t), PVMC_EFORMAT);
    ck_assert_int_eq(unit_log.count, 11);
    ck_assert_str_eq(unit_log.line, "t: and 20 more");
}
END_TEST

static char *written(void (*write)(const struct pvma_topology *, FILE *), const struct pvma_topology *t)
{
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    write(t, out);
    fclose(out);
    return text;
}

static unsigned server_of(const struct pvma_topology *t, const char *host)
{
    int node = pvma_topology_node(t, host);
    ck_assert(node >= 0 && t->nodes[node].is_station);
    return t->nodes[node].server;
}

/* In order, a ring's servers get equal runs of stations, and a tree's leaves; lines for a station go first. */
START_TEST(stations_in_order)
{
    struct pvma_topology t;
    const char *text = "host p[1-3]\nhost h[1-5]\nswitch s\nlink p[1-3] s\nlink h[1-5] s\nserver q[1-3] at=p[1-3]\n";
    char whole[400];
    snprintf(whole, sizeof whole, "%soverlay ring\n", text);
    ck_assert_int_eq(pvma_topology_parse("t", whole, strlen(whole), &t), 0);
    ck_assert_int_eq(t.overlay.direct, PVMA_DIRECT_SERVER);
    ck_assert_uint_eq(server_of(&t, "h1") + server_of(&t, "h2"), 2);
    ck_assert_uint_eq(server_of(&t, "h3") + server_of(&t, "h4"), 4);
    ck_assert_uint_eq(server_of(&t, "h5"), 3);
    pvma_topology_free(&t);
    snprintf(whole, sizeof whole, "%soverlay tree\nstation h5 server=q1\nstation h[1-2]\n", text);
    ck_assert_int_eq(pvma_topology_parse("t", whole, strlen(whole), &t), 0);
    ck_assert_int_eq(t.overlay.direct, PVMA_DIRECT_ALL);
    ck_assert_uint_eq(server_of(&t, "h5"), 1);
    ck_assert_uint_eq(server_of(&t, "h1"), 2);
    ck_assert_uint_eq(server_of(&t, "h2"), 3);
    ck_assert(!t.nodes[pvma_topology_node(&t, "h3")].is_station);
    pvma_topology_free(&t);
}
END_TEST

START_TEST(stations_by_distance)
{
    struct pvma_topology t;
    const char *text =
        "host p[1-2]\nhost h[1-5]\nswitch s[1-2]\nlink s1 s2\nlink p1 s1\nlink p2 s2\n"
        "link h[1-3] s2\nlink h4 s1\nlink h5 s1\nserver q[1-2] at=p[1-2]\noverlay ring attach=distance\n";
    ck_assert_int_eq(pvma_topology_parse("t", text, strlen(text), &t), 0);
    for (int i = 1; i <= 5; i++) {
        char name[8];
        snprintf(name, sizeof name, "h%d", i);
        ck_assert_uint_eq(server_of(&t, name), i <= 3 ? 2 : 1);
    }
    pvma_topology_free(&t);
}
END_TEST

/* A list has the same meaning as its source text. */
START_TEST(list_and_drawing)
{
    struct pvma_topology t, again;
    const char *text =
        "profile p like=sparc1-sba100 tx_pdu=1us\nhost a profile=p\nhost b\nswitch s model=an2 credits=7\n"
        "link a s rate=140M\nlink b s delay=1ms\npvc a b peak=1M paced=yes\n"
        "pvc a b service=abr peak=50M mcr=5M icr=20M\npvc b a service=vbr mean=1M\n"
        "source x from=a to=b type=onoff rate=5M on=1ms off=1ms\n"
        "source y from=a to=b type=cbr rate=5M service=abr peak=10M mcr=1M\n"
        "host c vcis=3\nlink c s\n"
        "server q at=c relay=5us down=1s\nstation b\noverlay tree branch=3 direct=none\n";
    ck_assert_int_eq(pvma_topology_parse("t", text, strlen(text), &t), 0);
    char *list = written(pvma_topology_list, &t);
    ck_assert_int_eq(pvma_topology_parse("t", list, strlen(list), &again), 0);
    char *second = written(pvma_topology_list, &again);
    const struct pvma_contract *abr = &again.pvcs[1].contract;
    ck_assert_int_eq(abr->service, PVMA_ABR);
    ck_assert_int_eq(abr->wanted.peak_bps, 50000000);
    ck_assert_int_eq(abr->back_minimum.mean_bps, 5000000); /* what is reserved */
    ck_assert_int_eq(abr->initial_bps, 20000000);
    ck_assert_int_eq(again.sources[1].contract.flow, PVMA_DUPLEX);
    ck_assert_int_eq(again.sources[1].contract.wanted.peak_bps, 10000000);
    ck_assert_int_eq(again.sources[0].contract.flow, PVMA_SIMPLEX);
    ck_assert_str_eq(list, second);
    char *dot = written(pvma_topology_dot, &t);
    ck_assert_ptr_nonnull(strstr(dot, "graph atm {"));
    ck_assert_ptr_nonnull(strstr(dot, "\"a\" -- \"s\""));
    free(list);
    free(second);
    free(dot);
    pvma_topology_free(&t);
    pvma_topology_free(&again);
}
END_TEST

START_TEST(files)
{
    struct pvma_topology t;
    unit_log_start();
    ck_assert_int_eq(pvma_topology_load("/nonexistent/x.atm", &t), PVMC_ESYSTEM);
    ck_assert_ptr_nonnull(strstr(unit_log.line, "cannot read the topology /nonexistent/x.atm"));
    ck_assert_int_eq(pvma_topology_load("/", &t), PVMC_ESYSTEM);
}
END_TEST

UNIT_MAIN("atm_topology", ranges_and_defaults, mistakes, at_most_ten_messages, stations_in_order, stations_by_distance,
          list_and_drawing, files)
