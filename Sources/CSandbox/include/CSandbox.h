#ifndef KINVAULT_SANDBOX_H
#define KINVAULT_SANDBOX_H

/*
 * Takes from this process, for good, all but what it needs to turn the bytes of its standard input into others on its
 * standard output: it computes, takes memory, reads there, writes there, and ends. No file can be opened or asked for, no
 * socket, no process and no thread begun, nothing mapped to be run, no limit raised; standard error is closed, and whatever
 * else was open. It ends with the thread that began it, and when it takes more than 20 s of a processor or 1 GiB.
 *
 * Docs/Security.md, "What opens foreign files". Two walls say the same: seccomp, without which this fails, and Landlock, where
 * the kernel has it.
 *
 * Returns 0, or -errno; then some of it may be done, and the process must end. To be called once, while there is one thread.
 */
int kv_confine(void);

/*
 * The second wall by itself: no path leads to anything from now on. Needs no_new_privs. Returns 0; 1 where the kernel has no
 * Landlock, and nothing is changed; or -errno.
 */
int kv_lock_paths(void);

#endif
