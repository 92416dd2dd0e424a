import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { silentLogger } from '../../src/telemetry/logger.ts'
import { Processes } from '../../src/testing/processes.ts'
import { recordingLogger } from '../support/recording-logger.ts'
import { repository } from '../support/process/process.ts'
import { until } from '../../src/testing/until.ts'

/** The arguments of a shell that starts a child process. The shell and the child process ignore SIGTERM, SIGINT and SIGHUP. */
const stubborn = ['-c', 'trap "" TERM INT HUP; echo "started $KUBECONFIG in $PWD"; sleep 600 & echo "child $!"; wait']

/** Returns true if the process is alive. A zombie is not alive. */
function isAlive(pid: number): boolean {
  const { status, stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
  return status === 0 && !stdout.startsWith('Z')
}

t.test('stop ends programs and their children, and removes the folder', async (t) => {
  const processes = await Processes.create(silentLogger())
  t.teardown(() => processes.stop())
  const program = await processes.start('stubborn', '/bin/sh', stubborn)
  const output = await until('it has printed', () => program.output().includes('child') && program.output())
  t.equal(output.split('\n')[0], `started  in ${processes.directory}`, 'the environment is not inherited')
  const child = Number(/child (\d+)/.exec(output)![1])
  t.ok(isAlive(program.pid) && isAlive(child))
  await processes.stop()
  t.ok(program.hasEnded())
  await until('the child is gone', () => !isAlive(child))
  t.notOk(existsSync(processes.directory))
  await t.rejects(processes.start('late', '/bin/true', []), { code: 'PRO_ABORTED' })
})

t.test('a program that has ended keeps its last output, and others keep running', async (t) => {
  const processes = await Processes.create(silentLogger())
  t.teardown(() => processes.stop())
  const other = await processes.start('other', '/bin/sleep', ['600'])
  const failing = await processes.start('failing', '/bin/sh', ['-c', 'echo reason; exit 3'])
  await until('it has ended', () => failing.hasEnded())
  t.equal(failing.lastOutput(), 'reason')
  t.notOk(other.hasEnded())
  await other.kill()
  t.ok(other.hasEnded())
})

t.test('the children of a killed process end with it, and its folder is removed', async (t) => {
  const script = join(t.testdir(), 'killed.ts')
  writeFileSync(
    script,
    `import { Processes } from ${JSON.stringify(join(repository, 'src/testing/processes.ts'))}
     import { silentLogger } from ${JSON.stringify(join(repository, 'src/telemetry/logger.ts'))}
     const processes = await Processes.create(silentLogger())
     const program = await processes.start('stubborn', '/bin/sh', ${JSON.stringify(stubborn)})
     while (!program.output().includes('child')) await new Promise((resolve) => setTimeout(resolve, 10))
     process.stdout.write(JSON.stringify({ pid: program.pid, child: Number(program.output().match(/child (\\d+)/)[1]), directory: processes.directory }))
     setInterval(() => {}, 1000)`,
  )
  const killed = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => killed.kill('SIGKILL'))
  const [line] = (await once(killed.stdout, 'data')) as [Buffer]
  const { pid, child, directory } = JSON.parse(line.toString()) as { pid: number; child: number; directory: string }
  t.ok(isAlive(pid) && isAlive(child) && existsSync(directory))
  killed.kill('SIGKILL')
  await until('all is gone', () => !isAlive(pid) && !isAlive(child) && !existsSync(directory))
})

t.test('a process exits although its programs run', async (t) => {
  const script = join(t.testdir(), 'forgetful.ts')
  writeFileSync(
    script,
    `import { Processes } from ${JSON.stringify(join(repository, 'src/testing/processes.ts'))}
     import { silentLogger } from ${JSON.stringify(join(repository, 'src/telemetry/logger.ts'))}
     const processes = await Processes.create(silentLogger())
     const program = await processes.start('sleep', '/bin/sleep', ['600'])
     process.stdout.write(String(program.pid))`,
  )
  const forgetful = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => forgetful.kill('SIGKILL'))
  const [pid] = (await once(forgetful.stdout, 'data')) as [Buffer]
  await once(forgetful, 'exit')
  await until('its program is gone', () => !isAlive(Number(pid.toString())))
})

t.test('programs have their own folder, log and environment, and no standard input', async (t) => {
  const { logger, entries } = recordingLogger('debug')
  process.env.KUBECONFIG = '/somewhere'
  const processes = await Processes.create(logger)
  t.teardown(() => processes.stop())
  const { directory } = processes
  const program = await processes.start('env', '/bin/sh', [
    '-c',
    'cat; for name in HOME PATH TMPDIR KUBECONFIG; do eval echo $name=\\$$name; done; seq 20; exit 3',
  ])
  t.equal(program.name, 'env')
  await until('it has ended', () => program.hasEnded() && entries.length > 0)
  const numbers = Array.from({ length: 20 }, (_, index) => index + 1)
  const expected = [`HOME=${directory}`, 'PATH=/usr/local/bin:/usr/bin:/bin', `TMPDIR=${directory}`, 'KUBECONFIG=', ...numbers]
  t.equal(program.output(), `${expected.join('\n')}\n`)
  t.equal(program.lastOutput(), numbers.slice(5).join('\n'), 'the last fifteen lines')
  t.equal(readFileSync(join(directory, 'env.log'), 'utf8'), program.output())
  t.equal(statSync(join(directory, 'env.log')).mode & 0o777, 0o600)
  const { time: _, ...entry } = entries[0]!
  t.strictSame(entry, { level: 'debug', program: 'env', code: 3, signal: null, output: program.lastOutput(), msg: 'env has ended' })
  await program.kill()
  t.equal(processes.stop(), processes.stop(), 'stop happens once')
})

t.test('a program that is killed or stopped is not logged as ended', async (t) => {
  const { logger, lines } = recordingLogger('debug')
  const processes = await Processes.create(logger)
  t.teardown(() => processes.stop())
  const killed = await processes.start('killed', '/bin/sleep', ['600'])
  await processes.start('other', '/bin/sleep', ['600'])
  await killed.kill()
  await processes.stop()
  t.strictSame(lines, [])
})

t.test('a watchdog that is killed does not end the process that started it', async (t) => {
  const { logger, lines } = recordingLogger('debug')
  const processes = await Processes.create(logger)
  t.teardown(() => processes.stop())
  const { stdout } = spawnSync('pgrep', ['-P', String(process.pid), '-f', `proreus-watchdog ${processes.directory}`], { encoding: 'utf8' })
  const watchdog = Number(stdout)
  t.ok(watchdog > 0, stdout)
  process.kill(watchdog, 'SIGKILL')
  await until('its loss is logged', () => lines.length > 0)
  const program = await processes.start('sleep', '/bin/sleep', ['600'])
  await processes.stop()
  t.notOk(isAlive(program.pid), '`stop` kills the program')
  t.notOk(existsSync(processes.directory), '`stop` removes the working directory')
  t.strictSame(lines, ['error: the watchdog of the started programs is gone'])
})
