/**
 * Test cases for the end of containers, Pods and the driver. No process, mount, network link or temporary file must remain, even if Proreus
 * is killed.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import type { NamespacesDriver } from '../../../../../src/devcluster/pods/namespaces/namespaces-driver.ts'
import { until } from '../../../../../src/testing/until.ts'
import { shell, start, traces, world } from './driver.ts'

/** A script whose processes are hard to end. They are forked twice, start separate sessions, and ignore signals. */
const stubborn = `
trap '' TERM HUP INT
(setsid sleep 1000 &)
(setsid sh -c 'trap "" TERM; (sleep 1000 &) ; sleep 1000' &)
echo ready
sleep 1000`

/**
 * Checks that the processes, mounts, network links and temporary files on the machine are the same as in `before`. The check waits at most
 * 10 seconds for this state, because processes and networks may remain visible for a moment after they have ended.
 */
async function isAsBefore(t: Test, before: ReturnType<typeof traces>): Promise<void> {
  await until('nothing is left', () => JSON.stringify(traces()) === JSON.stringify(before), 10_000).catch(() => undefined)
  t.strictSame(traces(), before)
}

t.test('nothing is left of a closed driver', async (t) => {
  const before = traces()
  const { driver, pod } = await world(t)
  const [one, two] = [await pod(), await pod()]
  const users = [undefined, { uid: 999, gid: 999, supplementalGroups: [] }]
  const containers = await Promise.all(users.flatMap((user) => [one, two].map((each) => shell(each, stubborn, user && { user }))))
  await Promise.all(containers.map(({ stdout }) => once(stdout, 'readable')))
  t.ok(traces().processes.filter((line) => line.includes('sleep 1000')).length >= 12)
  await t.rejects(one.connect(1), { code: 'ECONNREFUSED' })
  await driver.close()
  t.strictSame(await Promise.all(containers.map(({ exited }) => exited)), [137, 137, 137, 137])
  await t.rejects(pod())
  await t.rejects(start(one, ['true']))
  await driver.close()
  await isAsBefore(t, before)
})

t.test('nothing is left of a removed Pod and of an ended container', async (t) => {
  const { driver, pod } = await world(t)
  const other = await start(await pod(), ['sleep', '3000'])
  await until('the container runs', () => traces().processes.includes('sleep 3000'))
  const before = { ...traces(), links: await linksOf(driver) }
  const one = await pod()
  const container = await shell(one, stubborn)
  await once(container.stdout, 'readable')
  t.equal(await linksOf(driver), before.links + 1)
  const ended = await shell(one, '(setsid sleep 2000 &); echo left >/tmp/file; exit 3')
  t.equal(await ended.exited, 3)
  await until('the container is gone', () => !traces().processes.some((line) => line.includes('sleep 2000')))
  await Promise.all([one.remove(), one.remove()])
  t.equal(await container.exited, 137)
  t.strictSame({ ...traces(), links: await linksOf(driver) }, before)
  other.kill()
  t.equal(await other.exited, 137)
})

/** Returns the number of links in the network of the cluster. */
async function linksOf(driver: NamespacesDriver): Promise<number> {
  return Number((await driverOutput(driver.enterNetwork(), 'ls /proc/self/net/dev_snmp6 | wc -l')).trim())
}

async function driverOutput([program = '', ...words]: readonly string[], script: string): Promise<string> {
  const process = spawn(program, [...words, 'sh', '-c', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  process.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  await once(process, 'close')
  return output
}

t.test('a container that starts while its Pod is removed, and a Pod that is created while the driver is closed', async (t) => {
  const before = traces()
  const { driver, pod } = await world(t)
  const one = await pod()
  const starting = Array.from({ length: 4 }, () => start(one, ['sleep', '1000']).then(({ exited }) => exited, String))
  await one.remove()
  t.ok((await Promise.all(starting)).every((result) => result === 137 || typeof result === 'string'))
  const creating = pod().catch(String)
  await driver.close()
  await creating
  await isAsBefore(t, before)
})

t.test('nothing is left when Proreus is killed', async (t) => {
  const before = traces()
  const parent = spawn(process.execPath, ['--conditions=proreus-source', join(import.meta.dirname, 'killed-parent.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(parent.stdout, 'readable')
  t.ok(traces().processes.filter((line) => line.includes('sleep 1000')).length >= 8)
  parent.kill('SIGKILL')
  await isAsBefore(t, before)
})

t.test('nothing is left of a Pod whose folder could not be created', async (t) => {
  const { driver, pod } = await world(t)
  const other = await pod({ hostNetwork: true })
  await t.rejects(other.connect(1), { code: 'ECONNREFUSED' })
  const before = { ...traces(), links: await linksOf(driver) }
  const directory = join(tmpdir(), before.temporaryFiles.find((name) => name.startsWith('proreus-pods-')) ?? '')
  const pid = readdirSync('/proc').find((pid) => existsSync(`/proc/${pid}/mountinfo`) && mountsOf(pid).includes(` ${directory} - tmpfs `))
  writeFileSync(`/proc/${pid}/root${directory}/pod1`, '')
  await t.rejects(pod(), { code: 'ENOTDIR' })
  t.strictSame({ ...traces(), links: await linksOf(driver) }, before)
  await (await pod()).remove()
})

function mountsOf(pid: string): string {
  return readFileSync(`/proc/${pid}/mountinfo`, 'utf8').replaceAll(/ [^ ]* - tmpfs /g, ' - tmpfs ')
}

t.test('containers and their further processes are killed while Proreus can start no process', async (t) => {
  const one = await (await world(t)).pod()
  const container = await shell(one, "trap '' TERM; echo ready; sleep 1000")
  await once(container.stdout, 'readable')
  const further = await container.execute({ command: ['sleep', '1000'], tty: false, stdin: false })
  await withoutFiles(async () => {
    further.kill()
    t.equal(await further.exited, 137)
    container.kill()
    t.equal(await container.exited, 137)
  })
})

/** Runs `work` while this process cannot open any file. */
async function withoutFiles(work: () => Promise<void>): Promise<void> {
  const opened: number[] = []
  spawnSync('prlimit', [`--pid=${process.pid}`, '--nofile=256:'], { stdio: 'inherit' })
  try {
    for (;;) opened.push(openSync('/dev/null', 'r'))
  } catch {
    await work()
  } finally {
    for (const fd of opened) closeSync(fd)
  }
}

t.test('the driver opens no more files with each process', async (t) => {
  const one = await (await world(t)).pod()
  const count = (): number => readdirSync('/proc/self/fd').length
  const once = async (): Promise<void> => {
    const container = await start(one, ['true'])
    container.stdout.resume()
    container.stderr!.resume()
    await container.exited
  }
  await once()
  const before = count()
  for (let round = 0; round < 5; round += 1) await once()
  await t.resolves(until('the pipes are closed', () => count() <= before))
})
