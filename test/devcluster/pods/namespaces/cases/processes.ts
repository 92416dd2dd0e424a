/** Cases of processes: exit codes, signals, streams, users, and further processes of a container. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import t from 'tap'
import { ContainerStartError } from '../../../../../src/devcluster/pods/driver.ts'
import { until } from '../../../../../src/testing/until.ts'
import { environment, ids, outcome, run, shell, start, world } from './driver.ts'

t.test('the exit code is that of the first process', async (t) => {
  const { driver, pod } = await world(t)
  t.equal(driver.mode, 'namespaces')
  if (ids !== undefined) t.equal(driver.ids, ids)
  const one = await pod()
  for (const [script, code] of [
    ['exit 0', 0],
    ['exit 42', 42],
    ["sh -c 'kill -9 $$'; exit $?", 137],
  ] as const)
    t.equal((await run(one, script)).code, code, script)
})

t.test('a signal reaches the first process', async (t) => {
  const one = await (await world(t)).pod()
  const container = await shell(one, "trap 'echo stopping; exit 7' TERM; echo ready; while :; do sleep 0.01; done")
  await once(container.stdout, 'readable')
  container.signal('SIGTERM')
  t.match(await outcome(container), { code: 7, stdout: 'ready\nstopping\n' })
  container.signal('SIGTERM')
  container.kill()
})

t.test('a killed container has the exit code 137, also when it ignores SIGTERM', async (t) => {
  const one = await (await world(t)).pod()
  const container = await shell(one, "trap '' TERM; echo ready; (setsid sleep 1000 & setsid sh -c 'sleep 1000 & sleep 1000' &); sleep 1000")
  await once(container.stdout, 'readable')
  container.signal('SIGTERM')
  container.kill()
  t.match(await outcome(container), { code: 137, stdout: 'ready\n' })
})

t.test('a process has the environment, the arguments and the working directory that it was given', async (t) => {
  const one = await (await world(t)).pod({ hostname: 'web-0' })
  const values = {
    ...environment,
    LINES: 'one\ntwo\\n\n',
    QUOTES: `$HOME "a" 'b' \`c\` =`,
    EMPTY: '',
    'odd.name': 'ü',
    LC_ALL: 'C.UTF-8',
  }
  const { stdout } = await outcome(await start(one, ['env', '-0'], { environment: values }))
  t.strictSame(
    Object.fromEntries(stdout.split('\0').flatMap((line) => (line === '' ? [] : [/^([^=]*)=(.*)$/s.exec(line)!.slice(1)]))),
    values,
  )
  const parameters = ['-n', 'a b', '', '\\c', '$(id)', '*', 'x\ny', '=', '+']
  const printed = await outcome(await start(one, ['printf', '%s\\0', ...parameters]))
  t.strictSame(printed.stdout.split('\0').slice(0, -1), parameters)
  t.equal((await run(one, 'pwd; hostname', { workingDirectory: '/usr/share' })).stdout, '/usr/share\nweb-0\n')
  t.equal((await run(one, 'pwd', { workingDirectory: '/srv/not/there' })).stdout, '/srv/not/there\n')
})

t.test('a process can open its streams by their paths', async (t) => {
  const one = await (await world(t)).pod()
  const user = { uid: 999, gid: 998, supplementalGroups: [] }
  const container = await shell(one, 'cat /dev/stdin >/dev/stdout; echo error >/dev/stderr', { stdin: true, user })
  container.stdin!.end('input')
  t.match(await outcome(container), { code: 0, stdout: 'input', stderr: 'error\n' })
  t.match(await run(one, 'cat; echo end'), { code: 0, stdout: 'end\n' })
})

t.test('200 MB of output arrive without loss, and wait while nobody reads', async (t) => {
  const one = await (await world(t)).pod()
  const container = await shell(one, 'yes 0123456789abcdef | head -c 200000000')
  const before = process.memoryUsage().rss
  await until('the pipe is full', () => container.stdout.readableLength >= 65_536)
  const hash = createHash('sha256')
  let size = 0
  let peak = 0
  for await (const chunk of container.stdout as AsyncIterable<Buffer>) {
    size += chunk.length
    hash.update(chunk)
    peak = Math.max(peak, process.memoryUsage().rss)
  }
  t.equal(size, 200_000_000)
  const line = Buffer.from('0123456789abcdef\n')
  t.equal(hash.digest('hex'), createHash('sha256').update(Buffer.alloc(200_000_000, line)).digest('hex'))
  t.ok(peak - before < 100_000_000, `${peak - before} bytes of memory`)
  t.equal(await container.exited, 0)
})

t.test('a process has the given user and groups, and no other capabilities than in a container runtime', async (t) => {
  const one = await (await world(t)).pod()
  const identity = 'id -u; id -g; id -G | tr " " "\\n" | sort -n | tr "\\n" " "; grep CapEff /proc/self/status'
  const user = { uid: 999, gid: 998, supplementalGroups: ids === 'single' ? [] : [2000, 3000] }
  const groups = ids === 'single' ? '998' : '998 2000 3000'
  t.match(await run(one, identity, { user }), { code: 0, stdout: `999\n998\n${groups} CapEff:\t0000000000000000\n`, stderr: '' })
  t.match(await run(one, identity), { code: 0, stdout: '0\n0\n0 CapEff:\t00000000a80425fb\n' })
})

t.test('a user without an id in the container is an error of the start', async (t) => {
  const one = await (await world(t)).pod()
  const user = { uid: 4_000_000_000, gid: 0, supplementalGroups: [] }
  const missing = new ContainerStartError('the uid 4000000000 does not exist: the container has the uids 0 to 65536')
  if (ids === 'subordinate') await t.rejects(run(one, 'true', { user }), missing)
  else t.match(await run(one, 'id -u', { user }), { stdout: '4000000000\n' })
})

t.test('a program that does not exist is an error of the start', async (t) => {
  const one = await (await world(t)).pod()
  for (const [command, message] of [
    [['missing'], 'exec: "missing": executable file not found in $PATH'],
    [['/bin/missing'], 'exec: "/bin/missing": stat /bin/missing: no such file or directory'],
    [['/etc/passwd'], 'exec: "/etc/passwd": permission denied'],
    [['/usr'], 'exec: "/usr": is a directory'],
    [[''], 'exec: "": executable file not found in $PATH'],
  ] as const)
    await t.rejects(start(one, command), new ContainerStartError(message))
  await t.rejects(start(one, ['true', 'a\0b']), /null character/)
  t.equal((await run(one, 'exit 3')).code, 3)
})

t.test('further processes have the environment, the user and the files of the container', async (t) => {
  const one = await (await world(t)).pod()
  const user = { uid: 999, gid: 998, supplementalGroups: [] }
  const container = await shell(one, 'touch /tmp/mine; echo ready; sleep 1000', {
    user,
    environment: { ...environment, A: '1' },
    workingDirectory: '/usr',
  })
  await once(container.stdout, 'readable')
  const first = await container.execute({
    command: ['sh', '-c', 'pwd; id -u; id -g; echo $A; ls /tmp; cat; exit 9'],
    tty: false,
    stdin: true,
  })
  first.stdin!.end('input\n')
  t.match(await outcome(first), { code: 9, stdout: '/usr\n999\n998\n1\nmine\ninput\n', stderr: '' })
  const second = await container.execute({ command: ['sleep', '1000'], tty: false, stdin: false })
  second.kill()
  t.equal(await second.exited, 137)
  await t.rejects(container.execute({ command: ['missing'], tty: false, stdin: false }), /executable file not found/)
  const third = await container.execute({ command: ['sleep', '1000'], tty: false, stdin: false })
  container.kill()
  t.equal(await third.exited, 137)
  t.equal(await container.exited, 137)
  await t.rejects(container.execute({ command: ['true'], tty: false, stdin: false }), /does not run/)
})

t.test('further processes have the variables of the container, unless theirs replace them', async (t) => {
  const one = await (await world(t)).pod()
  const container = await start(one, ['sleep', '1000'], { environment: { ...environment, HOME: '/srv', TERM: 'dumb' } })
  const command = ['sh', '-c', 'echo $HOME $TERM']
  const own = await container.execute({ command, environment: { TERM: 'xterm' }, tty: false, stdin: false })
  t.equal((await outcome(own)).stdout, '/srv xterm\n')
  t.equal((await outcome(await container.execute({ command, tty: false, stdin: false }))).stdout, '/srv dumb\n')
})

/** Collects the output of a terminal without its carriage returns. */
function screen({ stdout }: { readonly stdout: Readable }): () => string {
  let output = ''
  stdout.on('data', (chunk: Buffer) => (output += chunk.toString().replaceAll('\r', '')))
  return () => output
}

t.test('a container with a terminal', async (t) => {
  const one = await (await world(t)).pod()
  const script = 'tty; stty -a | grep -o " echo "; read -r line; stty size; echo "got $line"; exit 5'
  const container = await shell(one, script, { tty: true, stdin: true })
  t.equal(container.stderr, undefined)
  const output = screen(container)
  container.resize({ columns: 0, rows: 1 })
  container.resize({ columns: 132, rows: 43 })
  await sizeBecomes(container, '43 132')
  await until('the script waits', () => output() === '/dev/pts/0\n echo \n')
  container.stdin!.write('hello\n')
  t.equal(await container.exited, 5)
  await until('the output ends', () => container.stdout.readableEnded)
  t.equal(output(), '/dev/pts/0\n echo \nhello\n43 132\ngot hello\n')
})

/** Waits until the first terminal of a container has the given size, as rows and columns. */
async function sizeBecomes(container: Awaited<ReturnType<typeof shell>>, size: string): Promise<void> {
  await until(`the size is ${size}`, async () => {
    const process = await container.execute({ command: ['sh', '-c', 'stty size </dev/pts/0'], tty: false, stdin: false })
    return (await outcome(process)).stdout.trim() === size
  })
}

t.test('further processes with a terminal', async (t) => {
  const one = await (await world(t)).pod()
  const container = await start(one, ['sleep', '1000'])
  const process = await container.execute({ command: ['sh', '-c', 'tty; read -r line; stty size; exit 6'], tty: true, stdin: true })
  const output = screen(process)
  process.resize({ columns: 90, rows: 20 })
  await sizeBecomes(container, '20 90')
  await until('the script waits', () => output() === '/dev/pts/0\n')
  process.stdin!.write('\n')
  t.equal(await process.exited, 6)
  await until('the output ends', () => process.stdout.readableEnded)
  t.equal(output(), '/dev/pts/0\n\n20 90\n')
  const interrupted = await container.execute({
    command: ['sh', '-c', "trap 'echo interrupted; exit 4' INT; echo ready; while :; do sleep 0.01; done"],
    tty: true,
    stdin: true,
  })
  await once(interrupted.stdout, 'readable')
  interrupted.stdin!.write('\x03')
  t.match(await outcome(interrupted), { code: 4, stdout: /interrupted/ })
  const killed = await container.execute({ command: ['sleep', '1000'], tty: true, stdin: false })
  killed.kill()
  t.equal(await killed.exited, 137)
})
