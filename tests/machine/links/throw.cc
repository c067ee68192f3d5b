/*
 * throw - calls that a C++ program leaves by an exception: out of a signal handler while they wait, out of a message
 * handler and out of a match function.
 */
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <sys/time.h>
#include "pvm3.h"

static const int rounds = 20;
static int me, handled;

static void check(bool holds, const char *what)
{
    if (holds)
        return;
    std::printf("throw: %s\n", what);
    std::exit(1);
}

static void on_alarm(int number)
{
    sigset_t mask; /* the handler does not return, so its signal would stay blocked */
    sigemptyset(&mask);
    sigaddset(&mask, number);
    sigprocmask(SIG_UNBLOCK, &mask, nullptr);
    throw std::runtime_error("time is over");
}

static int on_message(int)
{
    handled++;
    throw std::runtime_error("handler");
}

static int on_match(int, int, int)
{
    throw std::runtime_error("match");
}

static void send_self(int tag, int value)
{
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&value, 1, 1);
    check(pvm_send(me, tag) == 0, "pvm_send");
}

static void check_all(int value)
{
    int got = -1;
    send_self(1, value);
    check(pvm_recv(me, 1) > 0 && pvm_upkint(&got, 1, 1) == 0 && got == value, "its own message");
    check(pvm_nrecv(-1, -1) == 0, "nothing left");
    check(pvm_pstat(me) == PvmOk, "pvm_pstat");
    check(pvm_getcontext() == 0, "pvm_getcontext");
}

/* Destructors must run. */
struct guard {
    int &count;
    explicit guard(int &c) : count(c) { count++; }
    ~guard() { count--; }
};

static int alive;

template <typename Call> static void leave(const std::string &why, Call call)
{
    try {
        guard g(alive);
        call();
        check(false, "the call ended");
    } catch (const std::runtime_error &e) {
        check(e.what() == why, e.what());
    }
    check(alive == 0, "destructors");
}

static void arm()
{
    struct itimerval soon = {};
    soon.it_value.tv_usec = 20000;
    setitimer(ITIMER_REAL, &soon, nullptr);
}

int main()
{
    pvm_setopt(PvmAutoErr, 0);
    me = pvm_mytid();
    check(me > 0, "pvm_mytid");
    std::signal(SIGALRM, on_alarm);
    for (int i = 0; i < rounds; i++) {
        leave("time is over", [] { arm(), pvm_recv(-1, 2); });
        check_all(i);
        leave("time is over", [] { int n; arm(), pvm_precv(-1, 2, &n, 1, PVM_INT, nullptr, nullptr, nullptr); });
        check_all(i);
        leave("time is over", [] {
            char name[] = "never";
            arm(), pvm_recvinfo(name, 0, PvmMboxWaitForInfo);
        });
        check_all(i);
        leave("time is over", [] {
            char name[] = "g";
            pvm_joingroup(name), arm(), pvm_barrier(name, 100000);
        });
        check_all(i);
        pvm_recvf(on_match);
        send_self(3, i);
        leave("match", [] { pvm_recv(-1, 2); });
        pvm_recvf(nullptr);
        check(pvm_recv(-1, 3) > 0, "what was matched");
        check_all(i);
    }
    check(pvm_addmhf(-1, 5, -1, on_message) > 0, "pvm_addmhf");
    for (int i = 0; i < rounds; i++) {
        leave("handler", [] { send_self(5, 0), pvm_recv(-1, 2); });
        check_all(i);
    }
    check(handled == rounds, "handlers");
    check(pvm_exit() == 0, "pvm_exit");
    return 0;
}
