/* site.c - see site.h. */
#include "site.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "console/console.h"
#include "control.h"
#include "core/version.h"
#include "door.h"
#include "feed.h"
#include "machine.h"
#include "page.h"
#include "transports/module.h"
#include "wire/http/http.h"
#include "wire/http/place.h"

enum {
    CONNECTIONS_MAX = 64,
    STREAMS_MAX = 16,
    SILENCE_MAX_S = 10,
    HEAD_BYTES_MAX = 16 * 1024,
    BODY_BYTES_MAX = 64 * 1024,
};

enum {
    OK = 200,
    ACCEPTED = 202,
    SEE_OTHER = 303,
    BAD_REQUEST = 400,
    UNAUTHORIZED = 401,
    FORBIDDEN = 403,
    NOT_FOUND = 404,
    NOT_ALLOWED = 405,
    UNAVAILABLE = 503,
};

#define TYPE_JSON   "application/json"
#define TYPE_EVENTS "text/event-stream"

static const struct pvmw_http *http;
static struct pvmw_http_server *server;
static struct door door;
static struct feed feed;
static bool control;

/* Every answer has these, whatever it says. */
static const struct pvmw_http_header guards[] = {
    {"Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
                                "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cache-Control", "no-store"},
};
enum { GUARDS = sizeof(guards) / sizeof(guards[0]) };

/* ---- answers ---- */

static void say(struct pvmw_http_reply *reply, unsigned status)
{
    *reply = (struct pvmw_http_reply){.status = status, .headers = guards, .header_count = GUARDS};
}

static void say_json(struct pvmw_http_reply *reply, unsigned status, json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT);

    json_decref(value);
    say(reply, text != NULL ? status : UNAVAILABLE);
    if (text == NULL)
        return;
    reply->type = TYPE_JSON;
    reply->body = text;
    reply->body_bytes = strlen(text);
    reply->owned = true;
}

static void say_error(struct pvmw_http_reply *reply, unsigned status, const char *text)
{
    say_json(reply, status, json_pack("{s:s}", "error", text));
}

static void give_file(const struct page_file *file, struct pvmw_http_reply *reply)
{
    say(reply, OK);
    reply->type = file->type;
    reply->body = (const char *)file->bytes;
    reply->body_bytes = file->size;
    reply->lasts = true;
}

/* What has changed up to now is in the stream, so that the position is where the rest begins. */
static void give_state(struct pvmw_http_reply *reply)
{
    site_tell_changes();
    json_t *state = json_pack("{s:s, s:I, s:I, s:I, s:b, s:o}", "version", pvmc_version, "now",
                              (json_int_t)snapshot_now_us(&machine.snapshot), "origin",
                              (json_int_t)machine.snapshot.origin_us, "position", (json_int_t)feed.end, "control",
                              control, "key", control ? json_string(door.key) : json_null());

    machine_tell(state, true);
    say_json(reply, OK, state);
}

static void give_events(const struct pvmw_http_request *request, struct pvmw_http_reply *reply)
{
    const char *from = http->value(request, PVMW_HTTP_QUERY, "from");

    say(reply, OK);
    reply->type = TYPE_EVENTS;
    reply->streams = true;
    reply->position = from != NULL ? strtoull(from, NULL, 10) : feed.end;
}

static void take_wish(const struct pvmw_http_request *request, struct pvmw_http_reply *reply)
{
    const char *why = "started without --control";
    json_t *body;

    if (!control || !door_may_change(&door, http, request)) {
        say_error(reply, FORBIDDEN, control ? "without the page's key" : why);
        return;
    }
    body = json_loadb(request->body != NULL ? request->body : "", request->body_bytes, 0, NULL);
    int number = control_wish(request->path + 1, body, &why);
    json_decref(body);
    if (number > 0)
        say_json(reply, ACCEPTED, json_pack("{s:i}", "request", number));
    else
        say_error(reply, BAD_REQUEST, why);
}

/* The token moves from the URL to a cookie. */
static void lead_in(struct pvmw_http_reply *reply)
{
    static struct pvmw_http_header headers[GUARDS + 2]; /* until the answer is sent */
    static char cookie[sizeof(door.cookie) + sizeof(door.token) + 64];

    snprintf(cookie, sizeof(cookie), "%s=%s; Path=/; HttpOnly; SameSite=Strict", door.cookie, door.token);
    memcpy(headers, guards, sizeof(guards));
    headers[GUARDS] = (struct pvmw_http_header){"Set-Cookie", cookie};
    headers[GUARDS + 1] = (struct pvmw_http_header){"Location", "/"};
    *reply = (struct pvmw_http_reply){.status = SEE_OTHER, .headers = headers, .header_count = GUARDS + 2};
}

static void answer_visitor(const struct pvmw_http_request *request, struct pvmw_http_reply *reply)
{
    bool reads = strcmp(request->method, "GET") == 0 || strcmp(request->method, "HEAD") == 0;

    if (strcmp(request->method, "POST") == 0) {
        take_wish(request, reply);
        return;
    }
    say(reply, reads ? NOT_FOUND : NOT_ALLOWED);
    if (reads && strcmp(request->path, "/state") == 0)
        give_state(reply);
    if (reads && strcmp(request->path, "/events") == 0)
        give_events(request, reply);
    for (const struct page_file *file = page_files; reads && file->path != NULL; file++)
        if (strcmp(request->path, file->path) == 0)
            give_file(file, reply);
}

static void answer(void *arg, const struct pvmw_http_request *request, struct pvmw_http_reply *reply)
{
    (void)arg;
    switch (door_judge(&door, http, request)) {
    case DOOR_OPEN:
        answer_visitor(request, reply);
        return;
    case DOOR_ENTRANCE:
        lead_in(reply);
        return;
    case DOOR_NO_TOKEN:
        say(reply, UNAUTHORIZED);
        return;
    case DOOR_FOREIGN:
        say(reply, FORBIDDEN);
    }
}

static long read_feed(void *arg, uint64_t position, char *to, size_t room)
{
    (void)arg;
    return feed_read(&feed, position, to, room);
}

/* ---- changes ---- */

static void append(const char *text)
{
    feed_append(&feed, text, strlen(text));
}

void site_tell_changes(void)
{
    json_t *changes = json_object(), *results = control_results();

    machine_tell(changes, false);
    if (results != NULL)
        json_object_set_new(changes, "results", results);
    if (json_object_size(changes) > 0) {
        json_object_set_new(changes, "now", json_integer(snapshot_now_us(&machine.snapshot)));
        char *text = json_dumps(changes, JSON_COMPACT);
        if (text != NULL) {
            append("data: ");
            append(text);
            append("\n\n");
        }
        free(text);
        http->wake(server);
    }
    json_decref(changes);
}

bool site_is_watched(void)
{
    return http->streams(server) > 0;
}

/* ---- the server ---- */

static bool load(void)
{
    char why[512] = "it is none of ours";
    void *module = pvmt_module_load(PVMW_HTTP_MODULE, "pvm web", why, sizeof(why));

    http = module != NULL ? pvmt_module_symbol(module, PVMW_HTTP_SYMBOL) : NULL;
    if (http == NULL)
        advise("pvm web: %s: %s", PVMW_HTTP_MODULE, why);
    return http != NULL;
}

static bool start(int fd)
{
    static const struct pvmw_http_rules rules = {.connections_max = CONNECTIONS_MAX,
                                                 .streams_max = STREAMS_MAX,
                                                 .silence_max_s = SILENCE_MAX_S,
                                                 .head_bytes_max = HEAD_BYTES_MAX,
                                                 .body_bytes_max = BODY_BYTES_MAX,
                                                 .answer = answer,
                                                 .feed = read_feed};
    server = http->open(fd, &rules);
    if (server != NULL)
        return true;
    advise("pvm web: libmicrohttpd does not start");
    close(fd);
    return false;
}

bool site_open(union pvmw_address *at, bool with_control, char *url, size_t size)
{
    char text[PVMW_ADDRESS_TEXT];

    if (!load())
        return false;
    int fd = pvmw_http_place_listen(at);
    if (fd < 0) {
        advise("pvm web: cannot listen at %s: %s", pvmw_address_text(at, text), strerror(-fd));
        return false;
    }
    pvmw_address_text(at, text);
    char *colon = strrchr(text, ':');
    control = with_control;
    *colon = '\0';
    if (!door_make(&door, text, pvmw_address_port(at))) {
        advise("pvm web: the system has no random numbers");
        close(fd);
        return false;
    }
    snprintf(url, size, "http://%s:%u/?token=%s", text, pvmw_address_port(at), door.token);
    return start(fd);
}

int site_fd(void)
{
    return http->fd(server);
}

long site_serve(void)
{
    return http->run(server);
}

void site_close(void)
{
    if (server != NULL)
        http->close(server);
    server = NULL;
    free(feed.bytes);
    feed = (struct feed){0};
}
