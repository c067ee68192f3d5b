/* live.h - `pvm doctor --live`: a quick check of the daemon on this host, for probes of containers and service
 * managers. */
#ifndef LIVE_H
#define LIVE_H

enum live { LIVE_NOT, LIVE_MEMBER, LIVE_JOINING };

/* What is live by the word of `--live`; NULL is the default, "member". LIVE_NOT: there is no such word. */
enum live live_of_word(const char *word);

/*
 * Says in one line how the daemon of this user on this host fares. 0: it answers and its host is a member of a machine;
 * with LIVE_JOINING also if no daemon listens yet. Otherwise CONSOLE_FAILED, within 2 s even if the daemon hangs.
 */
int live_check(enum live wanted);

#endif
