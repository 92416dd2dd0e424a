/**
 * `killRounds`: tests `proreus dev --pods=process`. Each round starts the process, and ends the process at a random moment: during the
 * start, while Pods are created and deleted, or while Pods run. Most rounds end the process with SIGKILL, and the other rounds with
 * SIGTERM.
 *
 * - After the round, only the state folder may remain on the machine.
 * - After the next start, the cluster must become ready and run the same Pods again.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { pod as podType } from '../../../../src/api/builtin.ts'
import { apps } from '../../../../src/api/kubernetes/apps.ts'
import type { KubernetesObject } from '../../../../src/api/object.ts'
import type { Client } from '../../../../src/client/client.ts'
import type { Connection } from '../../../../src/client/connection.ts'
import { messageOf } from '../../../../src/api/errors.ts'
import { Dice } from '../../dice.ts'
import { DevProcess } from '../dev-process.ts'
import { ExecSession } from '../exec-session.ts'
import type { MachineState } from '../machine/machine-state.ts'
import { leftOver, machineState } from '../machine/machine-state.ts'
import { untilEmpty } from '../until-empty.ts'
import type { StubbornPod } from './stubborn-pods.ts'
import { kinds, namespace, stubbornPod } from './stubborn-pods.ts'
import { nodeProgram } from '../node-program.ts'

export interface KillResult {
  /** The number of rounds in which the process was ended during the first seconds after its start. No Pods were changed in these rounds. */
  readonly earlyEnds: number
  /**
   * Each start of the process adds to this number the Pods and Deployments that exist before the start and must run again after the start.
   * If a round ends the process early, its start adds nothing.
   */
  readonly runAgain: number
  readonly failures: readonly string[]
}

export interface KillOptions {
  readonly rounds: number
  readonly seed: number
  readonly stateFolder: string
  /** Called at the beginning of each round. */
  onRound(round: number): void
}

/** The probability that the process is ended early in a round, and the longest time in milliseconds from the start to an early end. */
const earlyEnd = { probability: 0.2, longestMs: 3_000 }
/**
 * The longest time in milliseconds from the first change of Pods to the end of the process. In half of the rounds, the time is below 1,000.
 */
const longestMs = 4_000
/** The probability that a round deletes a Pod that exists. */
const deletion = 0.3
/** The probability that the process is ended with SIGTERM instead of SIGKILL. */
const orderlyEnd = 0.15
/**
 * Time limits in milliseconds. `runningMs`: from the start of the process until all Pods run. `goneMs`: from the end of the process until
 * nothing is left behind.
 */
const [runningMs, goneMs] = [60_000, 15_000]

/** Runs the rounds on this machine. Nothing else may run on the machine during the rounds. Stops after a round with failures. */
export async function killRounds(options: KillOptions): Promise<KillResult> {
  return new KillRounds(options).run()
}

class KillRounds {
  readonly #options: KillOptions
  readonly #dice: Dice
  readonly #before: MachineState = machineState()
  /** The Pods that must run after the next start. */
  #expected: StubbornPod[] = []
  /** The Pods whose creation or deletion was interrupted by a kill. */
  #uncertain: StubbornPod[] = []
  #serial = 0
  #earlyEnds = 0
  #runAgain = 0

  constructor(options: KillOptions) {
    this.#options = options
    this.#dice = new Dice(options.seed)
  }

  async run(): Promise<KillResult> {
    let failures: readonly string[] = []
    for (let round = 1; round <= this.#options.rounds && failures.length === 0; round += 1) {
      this.#options.onRound(round)
      failures = await this.#round()
    }
    if (failures.length === 0) failures = await this.#lastRound()
    return { earlyEnds: this.#earlyEnds, runAgain: this.#runAgain, failures }
  }

  async #round(): Promise<readonly string[]> {
    const dev = new DevProcess(this.#options.stateFolder)
    if (this.#dice.chance(earlyEnd.probability)) {
      this.#earlyEnds += 1
      await delay(this.#dice.next() * earlyEnd.longestMs)
      return this.#end(dev)
    }
    const { client, connection } = await dev.ready()
    const problems = await this.#untilRunning(dev, client)
    if (problems.length > 0) {
      await dev.kill()
      return problems
    }
    const session = await this.#openSession(connection).catch(messageOf)
    const changing = this.#change(client)
    await delay(this.#dice.next() ** 2 * longestMs)
    const failures = await this.#end(dev)
    await changing
    await client.close()
    if (typeof session !== 'string') session?.close()
    return typeof session === 'string' ? [...failures, `exec: ${session}`] : failures
  }

  /** Starts the process once more, checks that the Pods run again, and kills the process. */
  async #lastRound(): Promise<readonly string[]> {
    const dev = new DevProcess(this.#options.stateFolder)
    const { client } = await dev.ready()
    const problems = await this.#untilRunning(dev, client)
    await client.close()
    await dev.kill()
    return [...problems, ...(await this.#untilNothingIsLeft(dev))]
  }

  /** Kills the process, or sometimes ends it with SIGTERM. Returns the failures. */
  async #end(dev: DevProcess): Promise<readonly string[]> {
    if (!this.#dice.chance(orderlyEnd)) {
      await dev.kill()
      return this.#untilNothingIsLeft(dev)
    }
    const code = await dev.stop()
    // The exit code is null if SIGTERM arrived before the process had a handler for this signal.
    const failures = code === 0 || code === null ? [] : [`proreus dev has ended with ${code}: ${dev.output}`]
    return [...failures, ...(await this.#untilNothingIsLeft(dev))]
  }

  async #untilNothingIsLeft(dev: DevProcess): Promise<readonly string[]> {
    const left = await untilEmpty(() => leftOver(this.#before, machineState()), goneMs)
    const failures = [...left.map((line) => `left after the end: ${line}`), ...dev.complaints.map((line) => `logged: ${line}`)]
    return left.length === 0 ? failures : [...failures, dev.output]
  }

  /** Waits until the expected Pods, and no others, run. Returns the differences that remain when the time limit has passed. */
  async #untilRunning(dev: DevProcess, client: Client): Promise<readonly string[]> {
    this.#runAgain += this.#expected.length
    const problems = await untilEmpty(() => this.#problemsOf(dev, client), runningMs)
    return problems.length === 0 ? [] : [...problems, dev.output]
  }

  async #problemsOf({ podsFolder, startedAt }: DevProcess, client: Client): Promise<readonly string[]> {
    const { items } = await client.list(podType, { namespace })
    const deployments = await client.list(apps.deployment, { namespace })
    this.#settleUncertain([...items, ...deployments.items].filter(({ metadata }) => metadata.deletionTimestamp === undefined))
    const states = items.flatMap(({ metadata, status }) => {
      if (metadata.deletionTimestamp !== undefined) return [`the Pod ${metadata.name} is still being deleted: ${JSON.stringify(status)}`]
      const isReady = status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True')
      // True if all containers run and have started after the current process of `proreus dev`. Until the current process has started the
      // containers, the API contains the status that the previous process has written. The tolerance of one second is necessary because
      // times in the API have no milliseconds.
      const areNew = status?.containerStatuses?.every(
        ({ state }) => state?.running !== undefined && Date.parse(String(state.running.startedAt)) >= startedAt - 1000,
      )
      return isReady === true && areNew === true ? [] : [`the Pod ${metadata.name} does not run: ${JSON.stringify(status)}`]
    })
    const machine = machineState()
    const running = machine.processes.map(({ command }) => command)
    const wanted = this.#expected.flatMap(({ processes }) => processes)
    const uids = new Set(items.map(({ metadata }) => metadata.uid))
    const unknown = ['pods', 'logs'].flatMap((folder) =>
      namesIn(join(podsFolder, folder)).flatMap((uid) => (uids.has(uid) ? [] : [`the folder ${folder}/${uid} is of no Pod`])),
    )
    return [...states, ...differences(running.filter(isOfPod), wanted), ...this.#networkProblems(machine, items.length), ...unknown]
  }

  /**
   * Checks that the numbers of network namespaces and links are those of `pods` Pods. Each Pod has a network namespace and two links (a
   * veth pair). The cluster itself has one network namespace and one link (the bridge).
   */
  #networkProblems({ networks }: MachineState, pods: number): readonly string[] {
    const linksIn = (all: MachineState['networks']): number => [...all.values()].flat().length
    const expected = [this.#before.networks.size + 1 + pods, linksIn(this.#before.networks) + 1 + 2 * pods]
    const found = [networks.size, linksIn(networks)]
    return found.join() === expected.join() ? [] : [`${found.join(' network namespaces, ')} links instead of ${expected.join(' and ')}`]
  }

  /** For each object whose creation or deletion was interrupted: if the object exists, adds the object to the expected Pods. */
  #settleUncertain(existing: readonly KubernetesObject[]): void {
    this.#expected.push(...this.#uncertain.filter(({ name }) => existing.some(({ metadata }) => metadata.name === name)))
    this.#uncertain = []
  }

  /**
   * Creates the missing Pods and deletes some existing Pods, in random order. Stops at the first request that fails, because requests fail
   * when `proreus dev` ends.
   */
  async #change(client: Client): Promise<void> {
    for (const kind of shuffled(kinds, this.#dice)) {
      const existing = this.#expected.find((one) => one.kind === kind)
      if (existing !== undefined && !this.#dice.chance(deletion)) continue
      const made = existing ?? stubbornPod(kind, (this.#serial += 1))
      this.#expected = this.#expected.filter((one) => one !== existing)
      this.#uncertain.push(made)
      try {
        await (existing === undefined ? made.create(client) : made.delete(client))
      } catch {
        return
      }
      this.#uncertain.pop()
      if (existing === undefined) this.#expected.push(made)
    }
  }

  /**
   * If the Pod for exec sessions is expected to run, opens an exec session with a terminal in this Pod. If a server is also expected to
   * run, the command of the session first sends an HTTP request to the Service of the server. The host in the URL is the name of the
   * Service. The command does not end by itself.
   */
  async #openSession(connection: Connection): Promise<ExecSession | undefined> {
    const [pod, server] = ['session', 'server'].map((kind) => this.#expected.find((one) => one.kind === kind))
    if (pod === undefined) return undefined
    const call =
      server === undefined ? 'console.log("answered")' : `fetch("http://${server.name}/").then((r) => r.text()).then(console.log)`
    const script = 'trap "" TERM HUP; "$0" -e "$1"; exec sleep 2000000'
    const command = ['sh', '-c', script, nodeProgram, call]
    const session = await ExecSession.open(connection, { namespace, pod: pod.name, container: 'main' }, command, { tty: true })
    const problems = await untilEmpty(() => (session.output.includes('answered') ? [] : [session.output]), runningMs)
    if (problems.length > 0) throw new Error(`the server was not reached: ${session.output}`)
    return session
  }
}

/** Returns true for the commands in `StubbornPod.processes`. The other processes of Pods, such as shells, are not checked. */
function isOfPod(command: string): boolean {
  return /^sleep 1\d{6}$/.test(command) || / server-\d+$/.test(command)
}

function differences(found: readonly string[], wanted: readonly string[]): readonly string[] {
  const missing = [...wanted]
  const additional = found.filter((command) => {
    const index = missing.indexOf(command)
    if (index >= 0) missing.splice(index, 1)
    return index < 0
  })
  return [
    ...missing.map((command) => `a process is missing: ${command}`),
    ...additional.map((command) => `nobody needs the process ${command}`),
  ]
}

function shuffled<T>(items: readonly T[], dice: Dice): readonly T[] {
  return items
    .map((item) => ({ item, order: dice.next() }))
    .sort((a, b) => a.order - b.order)
    .map(({ item }) => item)
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
