import { spawn } from 'node:child_process'
import type { FileHandle } from 'node:fs/promises'
import { open, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { ContainerLog } from '../../../../src/devcluster/pods/logs/container-log.ts'
import { ContainerLogs, removePodLogs } from '../../../../src/devcluster/pods/logs/container-logs.ts'
import { readLog } from '../../../../src/devcluster/pods/logs/read-log.ts'
import { FakeClock } from '../../../../src/testing/fake-clock.ts'

const never = new AbortController().signal
const all = { follow: false, timestamps: false }
const mebibyte = 1024 * 1024

/** Runs a real program, and captures its output. Resolves with the maximum of the resident memory of the test process, in bytes. */
async function captured(log: ContainerLog, script: string): Promise<number> {
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'pipe'] })
  let peak = 0
  child.stdout.on('data', () => (peak = Math.max(peak, process.memoryUsage().rss)))
  child.stdout.pause()
  await log.capture(child.stdout, child.stderr)
  return peak
}

t.test('200 MB of lines leave 50 MiB in five files, and little in memory', async (t) => {
  const folder = t.testdir({})
  const log = new ContainerLog({ folder, run: 0 })
  const before = process.memoryUsage().rss
  const peak = await captured(
    log,
    `const block = (('x'.repeat(99) + '\\n').repeat(10_000))
     let left = 200
     const write = () => { while (left-- > 0) if (!process.stdout.write(block)) return process.stdout.once('drain', write) }
     write()`,
  )
  const sizes = await Promise.all((await readdir(folder)).map(async (name) => (await stat(join(folder, name))).size))
  t.equal(sizes.length, 5)
  t.ok(sizes.every((size) => size <= 10 * mebibyte))
  t.ok(sizes.reduce((sum, size) => sum + size) > 40 * mebibyte)
  t.ok(peak - before < 120 * mebibyte, `${Math.round((peak - before) / mebibyte)} MiB more`)
})

t.test('a line of 100 MB is divided, and read again as one line', async (t) => {
  const folder = t.testdir({})
  const log = new ContainerLog({ folder, run: 0, maxBytes: 200 * mebibyte })
  const before = process.memoryUsage().rss
  const peak = await captured(
    log,
    `let left = 100
     const write = () => { while (left-- > 0) if (!process.stdout.write('y'.repeat(1e6))) return process.stdout.once('drain', write) }
     write()`,
  )
  t.ok(peak - before < 120 * mebibyte, `${Math.round((peak - before) / mebibyte)} MiB more`)
  let length = 0
  let timestamps = 0
  for await (const chunk of readLog(log, { ...all, timestamps: true }, never)) {
    const part = chunk as Buffer
    length += part.length
    if (part.includes('2')) timestamps += 1
  }
  t.equal(timestamps, 1)
  t.equal(length, 100_000_000 + '2026-01-01T00:00:00.000000000Z '.length)
})

t.test('the log waits for the disk: a container cannot write ahead', async (t) => {
  const folder = t.testdir({})
  const block = Buffer.from(`${'z'.repeat(1023)}\n`.repeat(64))
  let produced = 0
  const endless = new Readable({
    read() {
      produced += 1
      this.push(produced > 300 ? null : block)
    },
  })
  const log = new ContainerLog({ folder, run: 0 })
  const done = log.capture(endless)
  await log.changedSince(log.state.version, never)
  t.ok(produced < 50, `${produced} chunks when the first one is written`)
  await done
  t.equal(produced, 301)
})

t.test('both streams share the files, in the order of their chunks', async (t) => {
  const folder = t.testdir({})
  const log = new ContainerLog({ folder, run: 0, clock: new FakeClock() })
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const done = log.capture(stdout, stderr)
  for (let number = 0; number < 6; number += 1) {
    const { version } = log.state
    ;(number % 2 === 0 ? stdout : stderr).write(`${number}\n`)
    await log.changedSince(version, never)
  }
  stdout.end()
  stderr.end()
  await done
  const names = (await readFile(log.path(1), 'utf8')).split('\n').map((line) => line.split(' ').slice(1).join(' '))
  t.strictSame(names, ['stdout F 0', 'stderr F 1', 'stdout F 2', 'stderr F 3', 'stdout F 4', 'stderr F 5', ''])
})

t.test('a stream that breaks ends the log, and what it wrote is kept', async (t) => {
  const problems: string[] = []
  const folder = t.testdir({})
  const log = new ContainerLog({ folder, run: 0, onProblem: ({ message }) => problems.push(message) })
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const done = log.capture(stdout, stderr)
  const { version } = log.state
  stdout.write('one\n')
  await log.changedSince(version, never)
  stdout.destroy(new Error('broken'))
  stderr.destroy()
  await done
  t.ok(log.state.isEnded)
  t.equal(await text(readLog(log, all, never)), 'one\n')
  t.strictSame(problems, ['the stdout of the container broke: broken'])
})

t.test('when the disk fails, the container goes on, and the failure is reported once', async (t) => {
  const problems: Error[] = []
  const log = new ContainerLog({ folder: join(t.testdir({}), 'missing'), run: 0, onProblem: (error) => problems.push(error) })
  const stdout = Readable.from(Array.from({ length: 100 }, () => Buffer.from('x\n')))
  await log.capture(stdout)
  t.match(problems, [{ message: /^cannot write .*0\.1\.log: ENOENT/, cause: { code: 'ENOENT' } }])
  t.equal(problems.length, 1)
  t.equal(await text(readLog(log, all, never)), '')
})

t.test('a part that a full disk has still taken is removed, so that the next entry begins a line', async (t) => {
  const problems: string[] = []
  const folder = t.testdir({})
  const log = new ContainerLog({ folder, run: 0, onProblem: ({ message }) => problems.push(message) })
  const stdout = new PassThrough()
  const done = log.capture(stdout)
  const write = async (text: string): Promise<void> => {
    const { version } = log.state
    stdout.write(text)
    await log.changedSince(version, never)
  }
  await write('before\n')
  const probe = await open(log.path(1))
  const prototype = Object.getPrototypeOf(probe) as FileHandle
  await probe.close()
  const { appendFile } = prototype
  const failed = Promise.withResolvers<void>()
  prototype.appendFile = async function (this: FileHandle, data) {
    prototype.appendFile = appendFile
    await appendFile.call(this, (data as Buffer).subarray(0, 40))
    failed.resolve()
    throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
  }
  stdout.write('lost\n')
  await failed.promise
  await write('after\n')
  stdout.end()
  await done
  t.match(problems, [/ENOSPC/])
  t.equal(await text(readLog(log, all, never)), 'before\nafter\n')
  t.match(await readFile(log.path(1), 'utf8'), /^\S+ stdout F before\n\S+ stdout F after\n$/)
})

t.test('the latest two runs are kept, also over a restart of this process', async (t) => {
  const options = { stateFolder: t.testdir({}), podUid: 'u', container: 'main', maxBytes: 100, maxFiles: 3 }
  const logs = await ContainerLogs.open(options)
  t.strictSame([logs.latest, logs.previous], [undefined, undefined])
  const run = async (all: ContainerLogs, number: number): Promise<void> => {
    const log = await all.start(number)
    await log.capture(Readable.from(Array.from({ length: 4 }, (_, line) => Buffer.from(`run ${number} line ${line} ${'x'.repeat(40)}\n`))))
  }
  for (const number of [0, 1, 10]) await run(logs, number)
  t.strictSame([logs.previous?.run, logs.latest?.run], [1, 10])
  const reopened = await ContainerLogs.open(options)
  t.strictSame([reopened.previous?.run, reopened.latest?.run], [1, 10])
  t.match(await text(readLog(reopened.latest!, { ...all, follow: true }, never)), /^run 10 line \d .*\nrun 10 line 3 x+\n$/s)
  t.match(await text(readLog(reopened.previous!, { ...all, tailLines: 1 }, never)), /^run 1 line 3 x+\n$/)
  await run(reopened, 10)
  t.strictSame([reopened.previous?.run, reopened.latest?.run], [1, 10], 'a run of the same number is replaced')
  t.equal((await readdir(join(options.stateFolder, 'logs/u/main'))).length, 6)
  await removePodLogs(options.stateFolder, 'u')
  t.strictSame(await readdir(join(options.stateFolder, 'logs')), [])
  await t.rejects(ContainerLogs.open({ ...options, container: '../x' }), { message: /cannot be the name of a file/ })
})
