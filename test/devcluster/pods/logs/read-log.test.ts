import { once } from 'node:events'
import { readdirSync, readlinkSync } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import t from 'tap'
import type { Test } from 'tap'
import type { LogLimits } from '../../../../src/devcluster/pods/logs/container-log.ts'
import { ContainerLog } from '../../../../src/devcluster/pods/logs/container-log.ts'
import type { ReadLogOptions } from '../../../../src/devcluster/pods/logs/read-log.ts'
import { readLog, readLogEnd } from '../../../../src/devcluster/pods/logs/read-log.ts'
import { FakeClock } from '../../../../src/testing/fake-clock.ts'
import { until } from '../../../../src/testing/until.ts'

const all: ReadLogOptions = { follow: false, timestamps: false }
const never = new AbortController().signal

/** The log of a container whose output the test writes. */
class World {
  readonly folder: string
  readonly clock = new FakeClock('2026-01-01T00:00:00Z')
  readonly log: ContainerLog
  readonly stdout = new PassThrough()
  readonly stderr = new PassThrough()
  readonly captured: Promise<void>

  constructor(t: Test, limits: LogLimits = {}) {
    this.folder = t.testdir({})
    this.log = new ContainerLog({ folder: this.folder, run: 0, clock: this.clock, ...limits })
    this.captured = this.log.capture(this.stdout, this.stderr)
  }

  /** Writes output of the container. Waits until the log contains this output. */
  async write(output: string, stream: 'stdout' | 'stderr' = 'stdout'): Promise<void> {
    const { version } = this.log.state
    this[stream].write(output)
    await this.log.changedSince(version, never)
  }

  async end(): Promise<void> {
    this.stdout.end()
    this.stderr.end()
    await this.captured
  }

  read(options: Partial<ReadLogOptions> = {}, signal: AbortSignal = never): Promise<string> {
    return text(readLog(this.log, { ...all, ...options }, signal))
  }
}

/**
 * The expected results are those of k8s.io/cri-client/pkg/logs/logs.go: ReadLogs and logWriter.write, and of tail.go:
 * findTailLineStartIndex.
 */
t.test('each option selects or formats lines', async (t) => {
  const world = new World(t)
  await world.write('one\n')
  await world.clock.advance(1000)
  await world.write('warn\n', 'stderr')
  await world.clock.advance(1000)
  await world.write('two\nthree')
  await world.end()
  const start = Date.parse('2026-01-01T00:00:00Z')
  const time = (seconds: number): string => `2026-01-01T00:00:0${seconds}.000000000Z `
  const facts: readonly (readonly [options: Partial<ReadLogOptions>, text: string])[] = [
    [{}, 'one\nwarn\ntwo\nthree'],
    [{ follow: true }, 'one\nwarn\ntwo\nthree'],
    [{ timestamps: true }, `${time(0)}one\n${time(1)}warn\n${time(2)}two\n${time(2)}three`],
    [{ stream: 'Stdout' }, 'one\ntwo\nthree'],
    [{ stream: 'Stderr' }, 'warn\n'],
    [{ since: start + 1000 }, 'warn\ntwo\nthree'],
    [{ since: start + 1001 }, 'two\nthree'],
    [{ since: start + 9000 }, ''],
    [{ tailLines: 0 }, ''],
    [{ tailLines: 1 }, 'three'],
    [{ tailLines: 3 }, 'warn\ntwo\nthree'],
    [{ tailLines: 4 }, 'one\nwarn\ntwo\nthree'],
    [{ tailLines: 1_000_000_000 }, 'one\nwarn\ntwo\nthree'],
    [{ tailLines: 3, since: start + 2000 }, 'two\nthree'],
    [{ limitBytes: 1 }, 'o'],
    [{ limitBytes: 6 }, 'one\nwa'],
    [{ limitBytes: 4, timestamps: true }, '2026'],
    [{ limitBytes: 5, stream: 'Stderr' }, 'warn\n'],
    [{ limitBytes: 3, tailLines: 2 }, 'two'],
    [{ limitBytes: 3, follow: true }, 'one'],
  ]
  for (const [options, expected] of facts) t.equal(await world.read(options), expected, JSON.stringify(options))
})

t.test('a long line has one timestamp', async (t) => {
  const world = new World(t)
  const line = 'x'.repeat(40_000)
  await world.write(`${line}\nnext\n`)
  await world.end()
  const time = '2026-01-01T00:00:00.000000000Z'
  t.equal(await world.read({ timestamps: true }), `${time} ${line}\n${time} next\n`)
  t.equal(await world.read({ tailLines: 2 }), `${line.slice(32_768)}\nnext\n`, 'the parts of a line count separately, as with the kubelet')
})

t.test('following sees what is written later, until the run ends', async (t) => {
  const world = new World(t)
  await world.write('one\n')
  const stream = readLog(world.log, { ...all, follow: true, tailLines: 1 }, never)
  const chunks: string[] = []
  stream.on('data', (chunk: Buffer) => chunks.push(chunk.toString()))
  await until('the first line', () => chunks.length === 1)
  await world.write('two\n')
  await until('the second line', () => chunks.length === 2)
  t.equal(await world.read(), 'one\ntwo\n', 'without follow, the stream ends at once')
  await world.write('three\n', 'stderr')
  const ended = once(stream, 'end')
  await world.end()
  await ended
  t.equal(chunks.join(''), 'one\ntwo\nthree\n')
})

t.test('following an empty log waits for its first line', async (t) => {
  const world = new World(t)
  const followed = world.read({ follow: true })
  const tail = world.read({ follow: true, tailLines: 5 })
  t.equal(await world.read(), '')
  t.equal(await world.read({ tailLines: 5 }), '')
  await world.write('late\n')
  await world.end()
  t.equal(await tail, 'late\n')
  t.equal(await followed, 'late\n')
  const silent = new World(t)
  await silent.end()
  t.equal(await silent.read({ follow: true }), '')
})

t.test('files are rotated, the oldest are removed, and following goes on', async (t) => {
  const world = new World(t, { maxBytes: 400, maxFiles: 3 })
  const followed = world.read({ follow: true })
  let written = ''
  for (let number = 0; number < 40; number += 1) {
    const line = `${number} ${'x'.repeat(50)}\n`
    written += line
    await world.write(line)
  }
  await world.end()
  const { first, last } = world.log.state
  t.strictSame((await readdir(world.folder)).sort(), [`0.${first}.log`, `0.${first + 1}.log`, `0.${last}.log`].sort())
  t.equal(last - first, 2)
  const kept = await world.read()
  t.ok(written.endsWith(kept) && kept.length > 400, 'all files that are kept')
  t.equal(await world.read({ tailLines: 6 }), written.split('\n').slice(-7).join('\n'), 'the tail reaches into older files')
  t.equal(await world.read({ tailLines: 100 }), kept)
  const lines = (await followed).split('\n')
  t.equal(lines.pop(), '')
  const numbers = lines.map((line) => Number(/^(\d+) x{50}$/.exec(line)?.[1]))
  t.strictSame(
    numbers,
    [...new Set(numbers)].filter((number) => number >= 0).sort((a, b) => a - b),
    'a follower sees whole lines, each one once and in order',
  )
  t.equal(numbers.at(-1), 39)
})

t.test('a follower that reads everything in time misses nothing across rotations', async (t) => {
  const world = new World(t, { maxBytes: 300, maxFiles: 2 })
  const stream = readLog(world.log, { ...all, follow: true }, never)
  let seen = ''
  stream.on('data', (chunk: Buffer) => (seen += chunk.toString()))
  for (let number = 0; number < 30; number += 1) {
    await world.write(`line ${number}\n`)
    await until('it arrives', () => seen.endsWith(`line ${number}\n`))
  }
  const ended = once(stream, 'end')
  await world.end()
  await ended
  t.equal(seen, Array.from({ length: 30 }, (_, number) => `line ${number}\n`).join(''))
})

t.test('a follower that is behind reads the rest of a file that has been removed', async (t) => {
  const world = new World(t, { maxBytes: 400_000, maxFiles: 2 })
  const lines = (from: number, count: number): string =>
    Array.from({ length: count }, (_, index) => `${from + index} ${'x'.repeat(90)}\n`).join('')
  for (let from = 0; from < 2500; from += 100) await world.write(lines(from, 100))
  const stream = readLog(world.log, { ...all, follow: true }, never)
  // At the first `data` event, the stream has read only the beginning of the first file. The stream must read the rest of this file later,
  // when the file has already been removed.
  const [first] = (await once(stream, 'data')) as [Buffer]
  stream.pause()
  for (let from = 2500; world.log.state.first < 3; from += 100) await world.write(lines(from, 100))
  const ended = world.end()
  const numbers = `${first.toString()}${await text(stream)}`.trimEnd().split('\n').map(Number.parseFloat)
  await ended
  t.equal(numbers[0], 0)
  t.ok(numbers.includes(2499), 'the rest of the first file')
  t.ok(
    numbers.every((number, index) => index === 0 || number > numbers[index - 1]!),
    'each line once and in order',
  )
})

t.test('a client that leaves ends its stream, also while it waits', async (t) => {
  const world = new World(t)
  await world.write('one\n')
  const controller = new AbortController()
  const stream = readLog(world.log, { ...all, follow: true }, controller.signal)
  const [first] = (await once(stream, 'data')) as [Buffer]
  t.equal(first.toString(), 'one\n')
  const closed = once(stream, 'close')
  controller.abort()
  await closed
  t.equal(stream.errored, null)
  const other = readLog(world.log, { ...all, follow: true }, never)
  await once(other, 'data')
  if (process.platform === 'linux') t.ok(openFiles().includes(world.log.path(1)))
  other.destroy()
  await once(other, 'close')
  const late = readLog(world.log, all, controller.signal)
  t.ok(late.destroyed)
  await world.end()
  if (process.platform === 'linux') t.notOk(openFiles().includes(world.log.path(1)), 'no file is left open')
})

/** The paths of the open files of this process. */
function openFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap((name) => {
    try {
      return [readlinkSync(`/proc/self/fd/${name}`)]
    } catch {
      // This descriptor was used to read the folder, and has been closed since then.
      return []
    }
  })
}

t.test('a slow client does not make the log grow in memory', async (t) => {
  const world = new World(t)
  await world.write('x'.repeat(1_000_000))
  await world.end()
  const stream = readLog(world.log, all, never)
  stream.read(0)
  await until('it has read ahead', () => stream.readableLength > 0)
  t.ok(stream.readableLength < 200_000)
  stream.destroy()
})

t.test('what is not an entry is left out', async (t) => {
  const folder = t.testdir({})
  const entry = (text: string): string => `2026-01-01T00:00:00.000000000Z stdout F ${text}\n`
  await writeFile(join(folder, '3.1.log'), `torn line\n${entry('one')}\n${entry('two')}2026-01-01T00:00:00.00`)
  const log = new ContainerLog({ folder, run: 3, files: { first: 1, last: 1 } })
  t.equal(await text(readLog(log, all, never)), 'one\ntwo\n')
  t.equal(await text(readLog(log, { ...all, follow: true }, never)), 'one\ntwo\n')
  t.equal(await text(readLog(log, { ...all, tailLines: 1 }, never)), 'two\n')
})

/** The expected results are those of k8s.io/kubernetes/pkg/kubelet/kuberuntime: readLastStringFromContainerLogs. */
t.test('the end of a log as text', async (t) => {
  const world = new World(t)
  for (let number = 0; number < 200; number += 1) world.stdout.write(`line ${number}\n`)
  await world.end()
  t.equal(await readLogEnd(world.log, 2, 2048), 'line 198\nline 199\n')
  t.equal(await readLogEnd(world.log, 80, 12), '98\nline 199\n')
})
