/** Test cases for the driver `plain`. The expected behaviour is the same for root and for any other user. */
import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PodDriver, PodSandbox } from '../../../../src/devcluster/pods/driver.ts'
import { ContainerStartError } from '../../../../src/devcluster/pods/driver.ts'
import { terminalProblem } from '../../../../src/devcluster/pods/plain/terminal.ts'
import { container, environment, firstLines, outputOf, shell } from './container.ts'
import { scatter, scattered, sleepers, sleeping, uniqueSleep } from './processes.ts'

export interface Case {
  readonly name: string
  readonly needsTerminal?: true
  run(pod: PodSandbox): Promise<void>
}

/** Values that a shell would interpret. */
const hostile = ['$(echo no)', '`echo no`', "a'b", 'c"d', ' e  f ', '*', '; exit 99', '', '-n', '\\n', 'new\nline', 'ä€']

/** A program that prints its arguments and its environment. */
const reporter = [process.execPath, '-e', 'console.log(JSON.stringify({ args: process.argv.slice(1), env: process.env }))', '--']

const awkwardEnvironment = {
  ...environment,
  'spring.profiles': 'dev',
  __proto__: 'plain',
  SHELL: '/bin/false',
  HOSTILE: hostile.join('\n'),
}
// In an object literal, `__proto__: …` does not create an own property.
Object.defineProperty(awkwardEnvironment, '__proto__', { value: 'own', enumerable: true })

function checkReport(output: string): void {
  const { args, env } = JSON.parse(output) as { args: string[]; env: Record<string, string> }
  deepEqual(args, hostile)
  match(env['PROREUS_CONTAINER'] ?? '', /^\d+-\d+\/\d+$/)
  delete env['PROREUS_CONTAINER']
  // The test runner adds variables to the environment of every process, and removes a variable with the name `__proto__`.
  const isUnderRunner = Object.hasOwn(env, '_TAPJS_PROCESSINFO_ROOT_')
  const expected = Object.entries(awkwardEnvironment).filter(([name]) => !isUnderRunner || name !== '__proto__')
  const found = Object.entries(env).filter(([name]) => !isUnderRunner || !/^_TAPJS_|^NODE_OPTIONS$/.test(name))
  deepEqual(found.sort(), expected.sort())
}

/** Runs `work` with a folder that is deleted at the end. */
async function withFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'plain-')))
  try {
    await work(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

export const cases: readonly Case[] = [
  {
    name: 'the exit code is that of the process, or 128 and the number of the signal',
    async run(pod) {
      const codes = ['exit 0', 'exit 42', 'kill -KILL $$', 'kill -TERM $$'].map(async (script) => (await pod.start(shell(script))).exited)
      deepEqual(await Promise.all(codes), [0, 42, 137, 143])
    },
  },
  {
    name: 'arguments and environment arrive as they are',
    async run(pod) {
      const started = await pod.start(container([...reporter, ...hostile], { environment: awkwardEnvironment }))
      checkReport((await outputOf(started)).stdout)
    },
  },
  {
    name: 'with a terminal, arguments and environment arrive as they are',
    needsTerminal: true,
    async run(pod) {
      const started = await pod.start(container([...reporter, ...hostile], { environment: awkwardEnvironment, tty: true }))
      checkReport((await outputOf(started)).stdout)
    },
  },
  {
    name: 'the working directory is that of the options, and by default that of Proreus',
    run: (pod) =>
      withFolder(async (folder) => {
        equal((await outputOf(await pod.start(shell('pwd -P', { workingDirectory: folder })))).stdout, `${folder}\n`)
        equal((await outputOf(await pod.start(shell('pwd -P')))).stdout, `${realpathSync(process.cwd())}\n`)
      }),
  },
  {
    name: 'stdout and stderr are pipes that a program can open by their paths',
    async run(pod) {
      const output = await outputOf(await pod.start(shell('echo a; echo b >&2; echo c >/dev/stdout; echo d >/dev/stderr')))
      deepEqual(output, { stdout: 'a\nc\n', stderr: 'b\nd\n', exitCode: 0 })
    },
  },
  {
    name: 'stdin is passed on, and ends at once when the container has none',
    async run(pod) {
      const open = await pod.start(container(['cat'], { stdin: true }))
      open.stdin?.write('one\n')
      deepEqual(await firstLines(open, 1), ['one'])
      open.stdin?.end()
      equal(await open.exited, 0)
      deepEqual(await outputOf(await pod.start(container(['cat']))), { stdout: '', stderr: '', exitCode: 0 })
    },
  },
  {
    name: 'writing to the stdin of a process that has ended does nothing',
    async run(pod) {
      const started = await pod.start(shell('exit 4', { stdin: true }))
      equal(await started.exited, 4)
      started.stdin?.write('late\n')
    },
  },
  {
    name: '200 MB of output arrive',
    async run(pod) {
      const { stdout, exited } = await pod.start(container(['head', '-c', '200000000', '/dev/zero']))
      let bytes = 0
      for await (const chunk of stdout) bytes += (chunk as Buffer).length
      equal(bytes, 200_000_000)
      equal(await exited, 0)
    },
  },
  {
    name: 'a signal is received by the first process alone',
    async run(pod) {
      const script = `sh -c 'trap "echo child" TERM; echo ready; while :; do sleep 0.02; done' & trap 'exit 7' TERM; wait`
      const started = await pod.start(shell(script))
      deepEqual(await firstLines(started, 1), ['ready'])
      started.signal('SIGTERM')
      equal(await started.exited, 7)
    },
  },
  {
    name: 'a container that ignores SIGTERM is killed',
    async run(pod) {
      const started = await pod.start(shell(`trap 'echo ignored' TERM; echo ready; while :; do sleep 0.02; done`))
      const lines = firstLines(started, 2)
      await firstLines(started, 1)
      started.signal('SIGNONE' as NodeJS.Signals)
      started.signal('SIGTERM')
      deepEqual(await lines, ['ready', 'ignored'])
      started.kill()
      equal(await started.exited, 137)
      // When the container has ended, `signal` and `kill` have no effect.
      started.signal('SIGTERM')
      started.kill()
    },
  },
  {
    name: 'kill ends all processes of the container, also those that have left its group',
    async run(pod) {
      const seconds = uniqueSleep()
      const started = await pod.start(shell(`${scatter(seconds)}\nsleep 1000`))
      await sleeping(seconds, scattered)
      started.kill()
      equal(await started.exited, 137)
      deepEqual(sleepers(seconds), [])
    },
  },
  {
    name: 'the end of the first process ends all others, also those of exec, and no other container',
    async run(pod) {
      const [seconds, others] = [uniqueSleep(), uniqueSleep()]
      const other = await pod.start(container(['sleep', others]))
      const started = await pod.start(shell(`${scatter(seconds)}\nread line; exit 3`, { stdin: true }))
      const exec = await started.execute({ command: ['sh', '-c', `setsid sleep ${seconds} & wait`], tty: false, stdin: false })
      await sleeping(seconds, scattered + 1)
      started.stdin?.write('go\n')
      equal(await started.exited, 3)
      equal(await exec.exited, 137)
      deepEqual(sleepers(seconds), [])
      await rejects(started.execute({ command: ['true'], tty: false, stdin: false }), ContainerStartError)
      equal(sleepers(others).length, 1)
      other.kill()
      await other.exited
    },
  },
  ...[false, true].map((tty): Case => ({
    name: `the end of the first process ends what it leaves behind in its group${tty ? ', also with a terminal' : ''}`,
    ...(tty && { needsTerminal: true }),
    async run(pod) {
      const seconds = uniqueSleep()
      // A process without environment variables is found only by its process group.
      const started = await pod.start(shell(`trap '' HUP; env -i sleep ${seconds} & read line; exit 3`, { stdin: true, tty }))
      await sleeping(seconds, 1)
      started.stdin?.write('go\n')
      equal(await started.exited, 3)
      deepEqual(sleepers(seconds), [])
    },
  })),
  {
    name: 'exec has the environment and the folder of the container, variables and streams of its own',
    run: (pod) =>
      withFolder(async (folder) => {
        const variables = { ...environment, A: '1', B: '2' }
        const started = await pod.start(container(['sleep', '1000'], { environment: variables, workingDirectory: folder }))
        const exec = await started.execute({
          command: ['sh', '-c', 'read x; echo $x $A $B $(pwd -P); echo e >&2; exit 5'],
          environment: { B: '3' },
          tty: false,
          stdin: true,
        })
        exec.stdin?.end('in\n')
        deepEqual(await outputOf(exec), { stdout: `in 1 3 ${folder}\n`, stderr: 'e\n', exitCode: 5 })
        const unknown = started.execute({ command: ['no-such-program'], tty: false, stdin: false })
        await rejects(unknown, { message: 'exec: "no-such-program": executable file not found in $PATH' })
        started.kill()
      }),
  },
  {
    name: 'killing an exec ends its processes only; what an ended exec has left behind ends with the container',
    async run(pod) {
      const [own, left] = [uniqueSleep(), uniqueSleep()]
      const started = await pod.start(shell(`sleep ${own}; :`))
      const killed = await started.execute({ command: ['sh', '-c', `sleep ${left} & sleep ${left}; :`], tty: false, stdin: false })
      await sleeping(left, 2)
      killed.kill()
      equal(await killed.exited, 137)
      deepEqual(sleepers(left), [])
      // The driver finds the remaining processes of an exec by a variable in their environment, or by their process group. Because `env -i`
      // removes the variable, the driver can find this process only by its process group.
      const ended = await started.execute({ command: ['sh', '-c', `env -i sleep ${left} &`], tty: false, stdin: false })
      equal(await ended.exited, 0)
      await sleeping(left, 1)
      equal(sleepers(own).length, 1)
      started.kill()
      await started.exited
      deepEqual([...sleepers(left), ...sleepers(own)], [])
    },
  },
  {
    name: 'a terminal has a size, one stream and the exit code of the program',
    needsTerminal: true,
    async run(pod) {
      const started = await pod.start(container(['sleep', '1000']))
      const onResize = `test "$(stty size)" = "33 101" && echo resized && exit 9`
      const script = `test -t 0 && test -t 1 && test -t 2 && echo terminal; trap '${onResize}' WINCH; while :; do sleep 0.02; done`
      const exec = await started.execute({ command: ['sh', '-c', script], tty: true, stdin: true })
      equal(exec.stderr, undefined)
      const lines = firstLines(exec, 2)
      await firstLines(exec, 1)
      exec.resize({ columns: -1, rows: 70_000 })
      exec.resize({ columns: 101, rows: 33 })
      // The driver sets the size with stty(1), which sets rows and columns one after the other. Therefore, the program may receive two
      // signals.
      deepEqual(await lines, ['terminal', 'resized'])
      equal(await exec.exited, 9)
      exec.resize({ columns: 80, rows: 24 })
      started.kill()
    },
  },
  {
    name: 'a terminal echoes the input, and its control characters send signals',
    needsTerminal: true,
    async run(pod) {
      const started = await pod.start(shell(`trap 'exit 6' INT; echo ready; read x; echo "got $x"; read x`, { tty: true, stdin: true }))
      const lines = firstLines(started, 3)
      await firstLines(started, 1)
      started.stdin?.write('hello\n')
      deepEqual(await lines, ['ready', 'hello', 'got hello'])
      started.stdin?.write('\x03')
      equal(await started.exited, 6)
    },
  },
  {
    name: 'a program with a terminal receives signals, and is killed with all its processes',
    needsTerminal: true,
    async run(pod) {
      const seconds = uniqueSleep()
      const script = `trap 'echo ignored' TERM HUP; ${scatter(seconds)}\necho ready; while :; do sleep 0.02; done`
      const started = await pod.start(shell(script, { tty: true }))
      const [ready, lines] = [firstLines(started, 1), firstLines(started, 2)]
      await Promise.all([ready, sleeping(seconds, scattered)])
      started.signal('SIGTERM')
      deepEqual(await lines, ['ready', 'ignored'])
      started.kill()
      equal(await started.exited, 137)
      deepEqual(sleepers(seconds), [])
    },
  },
  {
    name: 'a program with a terminal has the default actions of all signals',
    needsTerminal: true,
    async run(pod) {
      const command = ['sh', '-c', 'yes | head -n 1; trap']
      equal((await outputOf(await pod.start(container(command, { tty: true })))).stdout, 'y\r\n')
      equal(await (await pod.start(shell('kill -PIPE $$', { tty: true }))).exited, 141)
    },
  },
  {
    name: 'a program that cannot run is a failed start',
    run: (pod) =>
      withFolder(async (folder) => {
        const [plain, broken] = [join(folder, 'plain'), join(folder, 'broken')]
        writeFileSync(plain, 'x', { mode: 0o644 })
        writeFileSync(broken, '#!/no/such/interpreter\n', { mode: 0o755 })
        const failures: [readonly string[], RegExp][] = [
          [['no-such-program'], /^exec: "no-such-program": executable file not found in \$PATH$/],
          [[''], /^exec: "": executable file not found in \$PATH$/],
          [['/no/such'], /^exec: "\/no\/such": stat \/no\/such: no such file or directory$/],
          [[plain], /": permission denied$/],
          [[folder], /": is a directory$/],
          [[broken], /^the process could not be started: .*ENOENT/],
          [['true', 'a\0b'], /^the process could not be started: .*null bytes/],
        ]
        for (const [command, message] of failures) await rejects(pod.start(container(command)), { message })
        for (const workingDirectory of ['/no/such', 'relative', '/dev/null'])
          await rejects(pod.start(container(['true'], { workingDirectory })), /workingDir: ".*" (cannot be read|is not)/)
      }),
  },
  {
    name: 'what a plain process cannot have is refused before it starts',
    async run(pod) {
      const user = { uid: 65001, gid: 65002, supplementalGroups: [65003] }
      const mounts = [{ source: '/tmp', target: '/data', isReadOnly: false }]
      const fields = ['image', 'readOnlyRootFilesystem', 'runAsUser', 'runAsGroup', 'supplementalGroups', 'mountPath']
      const refused = pod.start(container(['true'], { image: '/images/a', isRootReadOnly: true, user, mounts }))
      const error: unknown = await refused.catch((reason: unknown) => reason)
      equal(error instanceof ContainerStartError, true)
      for (const field of fields) match((error as Error).message, new RegExp(`\\b${field}:|\\b${field} or `))
    },
  },
  {
    name: 'the own user and a mount at its own path are accepted',
    async run(pod) {
      const user = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0, supplementalGroups: [] }
      const mounts = [{ source: tmpdir(), target: `${tmpdir()}/`, isReadOnly: false }]
      equal(await (await pod.start(container(['true'], { user, mounts }))).exited, 0)
    },
  },
  {
    name: 'a port is reached on the loopback address',
    async run(pod) {
      const server = createServer((socket) => socket.end('hello'))
      await once(server.listen(0, '127.0.0.1'), 'listening')
      const { port } = server.address() as AddressInfo
      const socket = await pod.connect(port)
      deepEqual((await socket.toArray()).map(String), ['hello'])
      await new Promise((resolve) => server.close(resolve))
      await rejects(pod.connect(port), { code: 'ECONNREFUSED', message: /reached only where it listens on 127\.0\.0\.1/ })
      await rejects(pod.connect(99_999), { code: 'ERR_SOCKET_BAD_PORT' })
    },
  },
  {
    name: 'a removed Pod has no processes and starts none',
    async run(pod) {
      const seconds = uniqueSleep()
      const started = await pod.start(shell(`${scatter(seconds)}\nsleep 1000`))
      await sleeping(seconds, scattered)
      const starting = pod.start(container(['sleep', seconds]))
      await pod.remove()
      deepEqual(sleepers(seconds), [])
      deepEqual(await Promise.all([started.exited, (await starting).exited]), [137, 137])
      await rejects(pod.start(container(['true'])), ContainerStartError)
    },
  },
]

/** Resolves with the reason why this machine cannot run a case. Resolves with false when this machine can run the case. */
export async function skipReason({ needsTerminal }: Case): Promise<string | false> {
  return needsTerminal === true ? ((await terminalProblem()) ?? false) : false
}

/** Runs a case in a separate Pod. */
export async function runCase({ run }: Case, driver: PodDriver): Promise<void> {
  const pod = await driver.createSandbox({ hostname: 'a', address: '10.244.0.2', hostNetwork: false })
  equal(pod.address, '127.0.0.1')
  try {
    await run(pod)
  } finally {
    await pod.remove()
  }
}
