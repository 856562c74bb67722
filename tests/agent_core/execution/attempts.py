"""Attempts to get out of a sandbox, by name: what each does, as bash or Python in the sandbox.

No attempt does harm where it succeeds: it opens a file and writes nothing, or sends signal 0. The
first run of this suite set the machine's `core_pattern`. An attempt that gets anywhere prints what
it found, or ESCAPED. `{home}` is the gateway's home, `{pid}` its process, `{tcp}` and `{udp}` its
ports, `{abstract}` its abstract socket.
"""

READ = {
    "the tokens": "cat {home}/.env",
    "the database": "cat {home}/state.db",
    "the write-ahead log": "cat {home}/state.db-wal",
    "the configuration": "cat {home}/config.toml",
    "the home, listed": "ls -R {home} && echo ESCAPED",
    "another workspace": "cat {home}/workspaces/ben/diary",
    "another workspace, from the own one": "cat ../ben/diary /workspace/../ben/diary",
    "the parent of the workspace": "cd .. && ls | grep -x ben && echo ESCAPED",
    "a link to the tokens": "ln -s {home}/.env l; cat l",
    "a link to another workspace": "ln -s ../ben d; cat d/diary",
    "a hard link to the tokens": "ln {home}/.env h && cat h",
    "a file of the machine's /tmp": "cat {outside}",
    "passwords": "cat /etc/shadow && echo ESCAPED",
    "the names of the machine's users": "grep -v assistant /etc/passwd && echo ESCAPED",
    "keys of the administrator": "cat /root/.ssh/* && echo ESCAPED",
    "private keys of the machine": "cat /etc/ssl/private/* && echo ESCAPED",
    "logs of the machine": "find /var/log -type f -size +0 | grep -q . && echo ESCAPED",
    "sockets of services": "find /run/ /var/run/ -mindepth 1 ! -name podman-init | grep ."
    " && echo ESCAPED",
    "the engine of containers": "#!python\n"
    "import socket\n"
    "socket.socket(socket.AF_UNIX).connect('/var/run/docker.sock'); print('ESCAPED')",
    "the modes of the home": "chmod 755 {home} && echo ESCAPED",
    "the mode of the tokens": "ln -s {home}/.env l; chmod 644 {home}/.env l && echo ESCAPED",
    "an access list of the tokens": "#!python\n"
    "import os\n"
    "os.setxattr('{home}/.env', 'user.x', b'1'); print('ESCAPED')",
    "what happens in the home": "#!python\n"
    "import ctypes\n"
    "libc = ctypes.CDLL(None)\n"
    "print('ESCAPED' if libc.inotify_add_watch(libc.inotify_init(), b'{home}', 0xfff) > 0 else '')",
    "a disk": "head -c 1 /dev/vda /dev/sda /dev/nvme0n1 && echo ESCAPED",
    "the memory of the machine": "head -c 1 /dev/mem /dev/kmem /proc/kcore && echo ESCAPED",
    "messages of the kernel": "dmesg && echo ESCAPED || head -c 1 /dev/kmsg && echo ESCAPED",
    "devices": "ls -A /sys/class /sys/block | grep -q '^[a-z]' && echo ESCAPED",
    "a disk by its number": "mknod disk b 254 0 && head -c 1 disk && echo ESCAPED",
    "a file by its handle": "#!python\n"
    "import ctypes, os\n"
    "libc = ctypes.CDLL(None, use_errno=True)\n"
    "handle = (ctypes.c_uint * 4)(8, 1, 2, 0)\n"
    "libc.open_by_handle_at(os.open('/workspace', 0), handle, 0)\n"
    "print('ESCAPED' if ctypes.get_errno() != 1 else '')",
    "the working folder of the first process": "cat /proc/1/cwd/../.env /proc/1/root{home}/.env",
    "folders above the root": "cat /../../..{home}/.env",
    "an old root": "ls -d /oldroot /newroot /.old | grep . && echo ESCAPED",
}
"""Reading what belongs to the gateway, to others, or to the machine."""

PROCESSES = {
    "the environment of the gateway": "cat /proc/{pid}/environ",
    "the memory of the gateway": "head -c 1 /proc/{pid}/mem && echo ESCAPED",
    "the open files of the gateway": "cat /proc/{pid}/fd/* /proc/{pid}/root{home}/.env",
    "the environment of every process": "cat /proc/[0-9]*/environ",
    "the command line of every process": "cat /proc/[0-9]*/cmdline",
    "processes of others": "[ $(ls -d /proc/[0-9]* | wc -l) -gt 16 ] && echo ESCAPED",
    "a signal to the gateway": "kill -0 {pid} && echo ESCAPED",
    "a debugger on the gateway": "#!python\n"
    "import ctypes\n"
    "print('ESCAPED' if ctypes.CDLL(None).ptrace(16, {pid}, 0, 0) == 0 else '')",
    "a debugger on the first process": "#!python\n"
    "import ctypes\n"
    "print('ESCAPED' if ctypes.CDLL(None).ptrace(16, 1, 0, 0) == 0 else '')",
    "a descriptor of the first process": "#!python\n"
    "import ctypes\n"
    "libc = ctypes.CDLL(None)\n"
    "print('ESCAPED' if libc.syscall(438, libc.syscall(434, 1, 0), 3, 0) >= 0 else '')",
    "the memory of the first process": "#!python\n"
    "import ctypes\n"
    "part = (ctypes.c_char * 8)()\n"
    "class Vector(ctypes.Structure):\n"
    "    _fields_ = [('base', ctypes.c_void_p), ('length', ctypes.c_size_t)]\n"
    "own = Vector(ctypes.addressof(part), 8)\n"
    "read = ctypes.CDLL(None).process_vm_readv(1, ctypes.byref(own), 1, ctypes.byref(own), 1, 0)\n"
    "print('ESCAPED' if read > 0 else '')",
    "a higher priority": "nice -n -10 true 2>&1 | grep -q denied || nice -n -10 bash -c"
    " '[ $(nice) -lt 0 ] && echo ESCAPED'",
    "the priority of the gateway": "renice -n 19 -p {pid} && echo ESCAPED",
    "the processors of the gateway": "taskset -cp 0 {pid} && echo ESCAPED",
    "protection from the killer of the kernel": "echo -1000 > /proc/self/oom_score_adj"
    " && echo ESCAPED",
}
"""Reaching processes outside."""

LEFT_BEHIND = {
    "a process that outlives the command": "setsid nohup bash -c 'sleep 0.3; echo > survived' &"
    " exit",
    "a daemon": "#!python\n"
    "import os, time\n"
    "if os.fork() == 0:\n"
    "    os.setsid()\n"
    "    if os.fork() == 0:\n"
    "        time.sleep(0.3)\n"
    "        open('survived', 'w')",
}
"""Staying behind when the command has ended."""

NETWORK = {
    "a web server on the internet": "exec 3<>/dev/tcp/93.184.216.34/80 && echo ESCAPED",
    "a server of this machine": "exec 3<>/dev/tcp/127.0.0.1/{tcp} && echo ESCAPED",
    "a server of this machine, by IPv6": "exec 3<>/dev/tcp/::1/{tcp} && echo ESCAPED",
    "the server of metadata": "exec 3<>/dev/tcp/169.254.169.254/80 && echo ESCAPED",
    "a datagram to this machine": "echo x > /dev/udp/127.0.0.1/{udp}",
    "a datagram to a name server": "echo x > /dev/udp/8.8.8.8/53 && echo ESCAPED",
    "a name": "getent hosts example.com && echo ESCAPED",
    "a socket of the gateway": "#!python\n"
    "import socket\n"
    "socket.socket(socket.AF_UNIX).connect('{home}/gateway.sock'); print('ESCAPED')",
    "an abstract socket of the gateway": "#!python\n"
    "import socket\n"
    "socket.socket(socket.AF_UNIX).connect('\\0{abstract}'); print('ESCAPED')",
    "the host of a virtual machine": "#!python\n"
    "import socket\n"
    "socket.socket(40, socket.SOCK_STREAM); print('ESCAPED')",
    "raw packets": "#!python\n"
    "import socket\n"
    "socket.socket(socket.AF_PACKET, socket.SOCK_RAW); print('ESCAPED')",
    "raw internet packets": "#!python\n"
    "import socket\n"
    "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1); print('ESCAPED')",
    "bluetooth": "#!python\nimport socket\nsocket.socket(31, socket.SOCK_RAW); print('ESCAPED')",
    "interfaces of the machine": "grep -v -e '^Inter' -e face -e lo: /proc/net/dev && echo ESCAPED",
    "an interface of its own": "ip link add dummy0 type dummy && echo ESCAPED",
}
"""Talking to anybody."""

RIGHTS = {
    "the administrator": "sudo -n id -u && echo ESCAPED; su -c id && echo ESCAPED",
    "the user of a setuid program": "cp /bin/bash b; chmod 4755 b; ./b -p -c '[ $(id -u) = 0 ]'"
    " && echo ESCAPED",
    "another user": "#!python\nimport os\nos.setuid(0); print('ESCAPED')",
    "a capability": "grep -E 'Cap(Eff|Prm|Bnd|Amb):.*[1-9a-f]' /proc/self/status && echo ESCAPED",
    "new privileges": "grep 'NoNewPrivs:.*0' /proc/self/status && echo ESCAPED",
    "a new user namespace": "unshare --user --map-root-user id && echo ESCAPED",
    "a new mount namespace": "unshare --mount true && echo ESCAPED",
    "a new user namespace, by clone": "#!python\n"
    "import ctypes, os\n"
    "pid = ctypes.CDLL(None).syscall(56, 0x10000000 | 17, 0, 0, 0, 0)\n"
    "if pid == 0: os._exit(0)\n"
    "print('ESCAPED' if pid > 0 else '')",
    "a namespace of the first process": "nsenter --target 1 --mount true && echo ESCAPED",
    "a mount": "mount -t tmpfs none /tmp && echo ESCAPED; mount --bind / /tmp && echo ESCAPED",
    "a root of its own": "chroot / true && echo ESCAPED",
    "a writable system": "mount -o remount,rw / && echo ESCAPED; touch /usr/x && echo ESCAPED",
    "programs of the system": "exec 3>>/usr/bin/env && echo ESCAPED",
    "a file beside the system": "touch /x && echo ESCAPED; touch /etc/x && echo ESCAPED",
    "devices of its own": "touch /dev/x && echo ESCAPED; mknod /dev/x c 1 1 && echo ESCAPED",
    "settings of the kernel": "exec 3>/proc/sys/kernel/panic && echo ESCAPED",
    "the program of core dumps": "exec 3>/proc/sys/kernel/core_pattern && echo ESCAPED",
    "any setting of the kernel": "find /proc/sys /proc/sysrq-trigger -type f -writable | grep ."
    " && echo ESCAPED",
    "any other file of /proc": "for f in /proc/*; do [ -f $f -a -w $f ] && echo ESCAPED $f; done;"
    " find /proc/fs /proc/irq /proc/bus /proc/driver -type f -writable | grep . && echo ESCAPED",
    "reports on the whole machine": "cat /proc/keys /proc/timer_list | grep -q ."
    " && echo ESCAPED; grep -q -v '^0* ' /proc/kallsyms && echo ESCAPED;"
    " head -c 8 /proc/kpagecount | grep . && echo ESCAPED",
    "a crash of the machine": "exec 3>/proc/sysrq-trigger && echo ESCAPED",
    "keys of the kernel": "#!python\n"
    "import ctypes\n"
    "libc = ctypes.CDLL(None)\n"
    "print('ESCAPED' if libc.syscall(250, 0, -3, 0, 0, 0) >= 0 else '')",
    "io_uring": "#!python\n"
    "import ctypes\n"
    "print('ESCAPED' if ctypes.CDLL(None).syscall(425, 1, (ctypes.c_char * 120)()) >= 0 else '')",
    "programs in the kernel": "#!python\n"
    "import ctypes\n"
    "libc = ctypes.CDLL(None, use_errno=True)\n"
    "print('ESCAPED' if libc.syscall(321, 0, (ctypes.c_char * 120)(), 120) >= 0 else '')",
    "counters of the processor": "#!python\n"
    "import ctypes\n"
    "kind = (ctypes.c_uint * 30)(1, 120)\n"
    "print('ESCAPED' if ctypes.CDLL(None).syscall(298, kind, 0, -1, -1, 0) >= 0 else '')",
    "page faults": "#!python\n"
    "import ctypes\n"
    "print('ESCAPED' if ctypes.CDLL(None).syscall(323, 1) >= 0 else '')",
    "calls of the x32 architecture": "#!python\n"
    "import ctypes\n"
    "libc = ctypes.CDLL(None)\n"
    "print('ESC' + 'APED' if libc.syscall(0x40000000 + 39) > 0 else '')",
    "a higher limit": "ulimit -H -u 100000 && ulimit -u 100000 && echo ESCAPED",
    "a larger file": "ulimit -H -f unlimited && ulimit -f unlimited && echo ESCAPED",
    "the name of the machine": 'hostname "$(hostname)" && echo ESCAPED',
    "the clock": 'date -s "$(date)" && echo ESCAPED',
    "typing into a terminal": "#!python\n"
    "import fcntl, os\n"
    "tty = os.open('/dev/tty', os.O_RDWR)\n"
    "fcntl.ioctl(tty, 0x5412, b'x'); print('ESCAPED')",
    "typing into a terminal of its own": "#!python\n"
    "import fcntl, os\n"
    "main, side = os.openpty()\n"
    "fcntl.ioctl(side, 0x5412, b'x'); print('ESCAPED')",
}
"""Getting rights that the sandbox took away."""

LIMITS = {
    "a bomb of processes": "bomb() {{ bomb | bomb & }}; bomb; sleep 600",
    "a bomb of threads": "#!python\n"
    "import threading, time\n"
    "for _ in range(10_000): threading.Thread(target=time.sleep, args=(600,), daemon=True).start()",
    "a bomb of memory": "for n in 1 2 3 4 5 6; do (x=$(head -c 90M /dev/zero | tr '\\0' x);"
    " sleep 600) & done; wait; echo ESCAPED",
    "a bomb of shared memory": "#!python\n"
    "import mmap, time\n"
    "part = mmap.mmap(-1, 2_000_000_000)\n"
    "for at in range(0, len(part), 4096): part[at] = 1\n"
    "print('ESC' + 'APED')",  # a shell that tells of the killed command shows its text
    "a bomb of files in memory": "#!python\n"
    "import os\n"
    "for _ in range(100): os.write(os.memfd_create('x'), bytes(19_000_000))\n"
    "print('ESCAPED')",
    "a full temporary folder": "for n in $(seq 50); do head -c 19M /dev/zero > /tmp/$n || exit;"
    " done; echo ESCAPED",
    "a full /dev/shm": "for n in $(seq 50); do head -c 19M /dev/zero > /dev/shm/$n || exit; done;"
    " echo ESCAPED",
    "a full disk": "for n in $(seq 50); do head -c 19M /dev/zero > f$n; done; sleep 20;"
    " echo ESCAPED",
    "a disk full of small files": "seq 45000 | xargs -n 500 touch; sleep 20; echo ESCAPED",
    "one large file": "fallocate -l 1G f && echo ESCAPED; truncate -s 1G f && echo ESCAPED",
}
"""Taking more than its share; `LIMITS` of the backends are small."""
