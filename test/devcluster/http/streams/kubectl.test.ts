/** Tests of the real kubectl with containers: logs, exec, attach, cp and port-forward, over WebSocket and over SPDY. */
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { spawn, spawnSync } from 'node:child_process'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import t from 'tap'
import type { Test } from 'tap'
import { until } from '../../../../src/testing/until.ts'
import { startTestCluster } from '../../../support/devcluster/kubectl.ts'
import { ProcessContainers } from '../../../support/devcluster/process-containers.ts'
import { echo, startTcpServer } from '../../../support/devcluster/tcp-server.ts'
import type { Finished, Running } from '../../../support/process/process.ts'
import { finished, kubectlPath, needsKubectl, runningOf, splitArguments } from '../../../support/process/process.ts'

const program = kubectlPath ?? 'kubectl'

interface KubectlWithContainers {
  readonly containers: ProcessContainers
  readonly env: NodeJS.ProcessEnv
  run(args: string, input?: string): Promise<Finished>
  start(args: string): Running
}

/** Starts a cluster with the Pod `p`. The commands of its container `main` are processes of this machine. */
async function startCluster(t: Test, webSockets: boolean): Promise<KubectlWithContainers> {
  const containers = new ProcessContainers()
  const cluster = await startTestCluster(t, { containers })
  t.teardown(() => containers.close())
  const directory = t.testdir()
  const kubeconfig = join(directory, 'kubeconfig')
  writeFileSync(kubeconfig, cluster.kubeconfigYaml(), { mode: 0o600 })
  const variables = { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: String(webSockets), KUBECTL_PORT_FORWARD_WEBSOCKETS: String(webSockets) }
  const env = { ...process.env, ...variables, HOME: directory, KUBECONFIG: kubeconfig }
  const run = (args: string, input?: string): Promise<Finished> =>
    finished(program, splitArguments(args), { env, ...(input === undefined ? {} : { input }) })
  const start = (args: string): Running => {
    const running = runningOf(spawn(program, splitArguments(args), { env, stdio: ['ignore', 'pipe', 'pipe'] }))
    t.teardown(() => running.stop())
    return running
  }
  await run('run p --image=nginx --overrides={"spec":{"containers":[{"name":"main","image":"nginx","stdin":true}]}}')
  const { code, stderr } = await run('wait --for=condition=Ready pod/p --timeout=20s')
  if (code !== 0) throw new Error(stderr)
  return { containers, env, run, start }
}

const options = { ...needsKubectl, timeout: 100_000 }
const terminal = spawnSync('script', ['--version']).error === undefined ? {} : { skip: 'the program script is not installed' }
const tests = [
  ['WebSocket', true],
  ['SPDY', false],
] as const

for (const [protocol, webSockets] of tests) {
  t.test(`${protocol}: kubectl exec has input, output and the exit code of a command`, options, async (t) => {
    const { run, containers } = await startCluster(t, webSockets)
    t.strictSame(await run(`exec p -- sh -c 'echo out; echo err >&2; exit 3'`), {
      code: 3,
      stdout: 'out\n',
      stderr: 'err\ncommand terminated with exit code 3\n',
    })
    const large = 'x'.repeat(3_000_000)
    const copied = await run('exec -i p -c main -- cat', large)
    t.ok(copied.stdout === large && copied.code === 0, 'three megabytes come back')
    const counted = await run('exec -i p -- wc -c', large)
    t.strictSame(counted, { code: 0, stdout: '3000000\n', stderr: '' })
    t.match(await run('exec p -- /no/such/program'), {
      code: 1,
      stderr: /exec: "\/no\/such\/program": executable file not found in \$PATH/,
    })
    t.match(await run('exec p -c other -- ls'), { code: 1, stderr: /container other (is not valid for|not found in) pod p/ })
    t.match(await run('exec absent -- ls'), { code: 1, stderr: /pods "absent" not found/ })
    t.match(await run('exec p -- sh -c true'), { code: 0, stdout: '', stderr: '' })
    await until('all sessions are closed', () => containers.sessions.every(({ isClosed }) => isClosed))
  })

  t.test(`${protocol}: kubectl exec -it has a terminal whose size follows that of the user`, { ...terminal, ...options }, async (t) => {
    const { containers, env } = await startCluster(t, webSockets)
    const ttyFile = join(t.testdirName, 'tty')
    const command = `tty > ${ttyFile}; stty cols 100 rows 30; exec ${program} exec -it p -- sh`
    const shell = runningOf(spawn('script', ['-qefc', command, '/dev/null'], { env: { ...env, SHELL: '/bin/sh' }, stdio: 'pipe' }))
    t.teardown(() => shell.stop())
    await until('the size of the terminal arrives', () => containers.sessions[0]?.sizes.includes('100x30'))
    const resized = spawnSync('stty', ['-F', readFileSync(ttyFile, 'utf8').trim(), 'cols', '120', 'rows', '40'])
    t.equal(resized.status, 0)
    await until('the new size arrives', () => containers.sessions[0]?.sizes.includes('120x40'))
    shell.child.stdin?.write(`test -t 0 && echo "a ter""minal"\n`)
    await until('the shell answers', () => shell.output().includes('a terminal'))
    shell.child.stdin?.write('exit 5\n')
    t.equal(await shell.ended, 5)
    t.match(containers.sessions[0]?.request, { tty: true, stdin: true, command: ['sh'] })
    await until('the session is closed', () => containers.sessions[0]?.isClosed)
  })

  t.test(`${protocol}: kubectl attach has the streams of the container`, options, async (t) => {
    const { containers, env } = await startCluster(t, webSockets)
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
    const exited = Promise.withResolvers<number>()
    containers.attached = () => ({ stdin, stdout, stderr, exited: exited.promise })
    const attached = runningOf(spawn(program, ['attach', '-i', 'p'], { env, stdio: 'pipe' }))
    t.teardown(() => attached.stop())
    await until('the client is attached', () => containers.sessions.length === 1)
    stdout.write('from the container\n')
    await until('the output arrives', () => attached.output().includes('from the container'))
    attached.child.stdin?.write('from the user\n')
    const [input] = (await once(stdin, 'data')) as [Buffer]
    t.equal(input.toString(), 'from the user\n')
    stdout.end()
    stderr.end()
    exited.resolve(0)
    t.equal(await attached.ended, 0)
    await until('the session is closed', () => containers.sessions[0]?.isClosed)
    const left = runningOf(spawn(program, ['attach', 'p'], { env, stdio: ['ignore', 'pipe', 'pipe'] }))
    containers.attached = () => ({ stdout: new PassThrough(), stderr: new PassThrough(), exited: new Promise(() => undefined) })
    await until('the second client is attached', () => containers.sessions.length === 2)
    await left.stop('SIGKILL')
    await until('the second session is closed', () => containers.sessions[1]?.isClosed)
  })

  t.test(`${protocol}: kubectl cp copies files in both directions`, options, async (t) => {
    const { run } = await startCluster(t, webSockets)
    const directory = t.testdirName
    for (const name of ['from', 'pod', 'back']) mkdirSync(join(directory, name))
    const large = Buffer.alloc(2_000_000, 'abcdefg')
    writeFileSync(join(directory, 'from/large'), large)
    writeFileSync(join(directory, 'from/small'), 'small')
    t.match(await run(`cp ${directory}/from/large p:${directory}/pod/large`), { code: 0, stderr: '' })
    t.ok(readFileSync(join(directory, 'pod/large')).equals(large))
    t.match(await run(`cp ${directory}/from p:${directory}/pod/all`), { code: 0, stderr: '' })
    t.equal(readFileSync(join(directory, 'pod/all/small'), 'utf8'), 'small')
    t.match(await run(`cp p:${directory}/pod/large ${directory}/back/large`), { code: 0 })
    t.ok(readFileSync(join(directory, 'back/large')).equals(large))
  })

  t.test(`${protocol}: kubectl port-forward forwards several connections`, options, async (t) => {
    const { start, containers } = await startCluster(t, webSockets)
    const { port, sockets } = await startTcpServer(t, echo)
    containers.ports.set(80, port)
    const forward = start('port-forward p :80 :81')
    const portOf = (remote: number): Promise<number> =>
      until(
        `port ${remote} is forwarded`,
        () => Number(new RegExp(`127\\.0\\.0\\.1:(\\d+) -> ${remote}`).exec(forward.output())?.[1]) || undefined,
      )
    const local = await portOf(80)
    const answers = await Promise.all(
      Array.from({ length: 10 }, async (_, index) => {
        const socket = connect(local, '127.0.0.1')
        const sent = String(index).repeat(200_000)
        socket.end(sent)
        return (await text(socket)) === sent
      }),
    )
    t.ok(answers.every(Boolean), 'each connection has its own bytes')
    t.equal(sockets.length, 10)
    const open = connect(local, '127.0.0.1')
    open.on('error', () => undefined)
    open.write('hello')
    t.equal(String((await once(open, 'data'))[0]), 'hello')
    const refused = connect(await portOf(81), '127.0.0.1')
    refused.on('error', () => undefined)
    await once(refused, 'close')
    await until('kubectl prints the error', () =>
      /error forwarding port 81 to pod p, uid .*: dial tcp 127\.0\.0\.1:81: connect: connection refused/.test(forward.output()),
    )
    open.destroy()
    await forward.stop()
    await until('all connections to the Pod are closed', () => sockets.every(({ destroyed }) => destroyed))
  })
}

t.test('kubectl logs passes its options and follows', options, async (t) => {
  const { run, start, containers } = await startCluster(t, true)
  const now = Date.now()
  containers.lines.push(
    { at: now - 3_600_000, stream: 'Stdout', text: 'old' },
    { at: now - 1000, stream: 'Stderr', text: 'new' },
    { at: now, stream: 'Stdout', text: 'newest' },
  )
  containers.previousLines.push({ at: now - 7_200_000, stream: 'Stdout', text: 'before' })
  const time = new Date(now).toISOString()
  for (const [args, stdout] of [
    ['logs p', 'old\nnew\nnewest\n'],
    ['logs p -c main', 'old\nnew\nnewest\n'],
    ['logs p --previous', 'before\n'],
    ['logs p --since=10m', 'new\nnewest\n'],
    [`logs p --since-time=${new Date(now - 2000).toISOString()}`, 'new\nnewest\n'],
    ['logs p --tail=1', 'newest\n'],
    ['logs p --tail=0', ''],
    ['logs p --tail=1 --timestamps', `${time} newest\n`],
    ['logs p --limit-bytes=5', 'old\nn'],
    ['logs -l run=p --prefix', '[pod/p/main] old\n[pod/p/main] new\n[pod/p/main] newest\n'],
  ] as const)
    t.match(await run(args), { code: 0, stdout, stderr: '' }, args)
  t.match(await run('logs p -c other'), { code: 1, stderr: /container other is not valid for pod p/ })
  const following = start('logs -f p --tail=1')
  await until('the log begins', () => following.output() === 'newest\n')
  containers.followers[0]?.write('and newer\n')
  await until('the next line arrives', () => following.output() === 'newest\nand newer\n')
  containers.followers[0]?.end()
  t.equal(await following.ended, 0)
  const stopped = start('logs -f p --tail=1')
  await until('the log begins', () => stopped.output() === 'newest\n')
  await stopped.stop()
  await until('the log ends', () => containers.followers[1]?.destroyed)
})

t.test('discovery lists the subresources of containers', options, async (t) => {
  const { run } = await startCluster(t, true)
  const { stdout } = await run('get --raw /api/v1')
  const { resources } = JSON.parse(stdout) as { resources: { name: string; kind: string; verbs: string[] }[] }
  t.strictSame(
    resources
      .filter(({ name }) => /^pods\/(attach|exec|log|portforward|proxy)$/.test(name))
      .map(({ name, kind, verbs }) => [name, kind, verbs.join()]),
    [
      ['pods/attach', 'PodAttachOptions', 'create,get'],
      ['pods/exec', 'PodExecOptions', 'create,get'],
      ['pods/log', 'Pod', 'get'],
      ['pods/portforward', 'PodPortForwardOptions', 'create,get'],
    ],
  )
  t.match(await run('get --raw /api/v1/namespaces/default/pods/p/proxy/'), { code: 1, stderr: /pods\/proxy is not available/ })
})
