/** `Replicas`: two replicas of an operator. At a chosen write, the leader loses its connections for ever. */
import { coordination } from '../../../src/api/kubernetes/coordination.ts'
import type { PolicyRule } from '../../../src/api/policy-rule.ts'
import type { Operator } from '../../../src/manager/operator.ts'
import type { ControlPlane } from '../../../src/testing/control-plane-types.ts'
import type { ProxiedRequest } from '../../../src/testing/faults/answers.ts'
import type { FaultProxy } from '../../../src/testing/faults/fault-proxy.ts'
import type { StartedOperator } from '../../../src/testing/started-operator.ts'
import { silentLogger } from '../../../src/telemetry/logger.ts'
import { until } from '../../../src/testing/until.ts'
import { writesOf } from './writes.ts'

/** The namespace of the Leases. The objects that the operators reconcile are in other namespaces. */
export const leaseNamespace = 'fault-leases'
export const leaseRules: Readonly<Record<string, readonly PolicyRule[]>> = {
  [leaseNamespace]: [{ apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create', 'get', 'update', 'watch'] }],
}

const verbs: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' }

/** `before`: the write does not reach the API server. `after`: the API server executes the write, but its response does not arrive. */
export const moments = ['before', 'after'] as const
export type Moment = (typeof moments)[number]

export interface Replica {
  readonly started: StartedOperator
  readonly proxy: FaultProxy
}

export interface ReplicasOptions {
  readonly controlPlane: ControlPlane
  readonly operator: Operator
  /** The user name with which the replicas authenticate. The Lease of the replicas has the same name. */
  readonly user: string
  /** The namespace that the replicas watch. */
  readonly namespace: string
}

export interface WriteFault {
  /**
   * Ends the fault. Resolves with the replica whose connections were cut. If the replicas have sent fewer writes than the `count` of
   * `failAt`, no connections were cut, and the promise resolves with undefined.
   */
  end(): Promise<Replica | undefined>
}

export class Replicas {
  readonly #options: ReplicasOptions
  readonly #replicas: Replica[] = []
  readonly #stopped: Promise<unknown>[] = []

  constructor(options: ReplicasOptions) {
    this.#options = options
  }

  get running(): readonly Replica[] {
    return this.#replicas
  }

  /** Starts replicas until two of them run. */
  async start(): Promise<void> {
    const { controlPlane, operator, user, namespace } = this.#options
    while (this.#replicas.length < 2) {
      const proxy = await controlPlane.faultProxy()
      const started = await controlPlane.startOperator([operator], {
        connection: proxy.through(controlPlane.connectionFor(user)),
        namespaces: [namespace],
        leaderElection: { namespace: leaseNamespace, name: user },
        logger: silentLogger(),
      })
      this.#replicas.push({ started, proxy })
    }
  }

  /** From now on, counts the writes of all replicas. Cuts the connections of the replica that sends write number `count`. */
  failAt(count: number, moment: Moment): WriteFault {
    const since = Date.now()
    const sent: string[] = []
    let cut: Promise<Replica> | undefined
    const cutAt = (replica: Replica, request: ProxiedRequest): boolean => {
      if (cut !== undefined || !this.#isWrite(request)) return false
      sent.push(textOf(request))
      if (sent.length < count) return false
      const isDone = sent.filter((text) => text === textOf(request)).length
      cut = moment === 'before' ? this.#cut(replica) : this.#cutAfter(replica, textOf(request), isDone, since)
      return moment === 'before'
    }
    const rules = this.#replicas.map((replica) => replica.proxy.answer(503, { match: (request) => cutAt(replica, request) }))
    return {
      async end() {
        rules.forEach((rule) => rule.end())
        return cut
      },
    }
  }

  /** Stops the running replicas. Resolves when all replicas have ended, including those whose connections were cut. */
  async stop(): Promise<void> {
    await Promise.all([...this.#stopped, ...this.#replicas.map(({ started }) => started.stop())])
  }

  /**
   * Cuts all connections of a replica, as if its process were killed. Then releases the Lease of the replica. Without this release, the
   * other replica would have to wait until the Lease expires.
   */
  async #cut(replica: Replica): Promise<Replica> {
    replica.proxy.cut({ alsoNew: true })
    this.#replicas.splice(this.#replicas.indexOf(replica), 1)
    this.#stopped.push(replica.started.stop().catch(() => undefined))
    const { controlPlane, user } = this.#options
    await controlPlane.client.patch(coordination.lease, { namespace: leaseNamespace, name: user }, { spec: { holderIdentity: '' } })
    return replica
  }

  /**
   * Waits until the API server has executed a write, and then cuts the connections of the replica. The replica does not receive the
   * response to the write.
   *
   * @param text the verb and the path of the write
   * @param times the required number of executed writes with this verb and path
   * @param since the time from which executed writes are counted, in milliseconds since 1970
   * @throws {Error} when the API server has executed fewer than `times` of these writes after a wait of 20 s.
   */
  async #cutAfter(replica: Replica, text: string, times: number, since: number): Promise<Replica> {
    replica.proxy.halfOpen({ direction: 'toClient', alsoNew: true })
    const { controlPlane, user } = this.#options
    await until(`the API server has carried out ${text}`, async () => {
      const writes = await writesOf(controlPlane, user, since)
      return writes.filter(({ verb, path }) => `${verb} ${path}` === text).length >= times
    })
    return this.#cut(replica)
  }

  #isWrite({ method, path, query }: ProxiedRequest): boolean {
    const isInNamespace = path.includes(`/namespaces/${this.#options.namespace}/`)
    return isInNamespace && method !== 'GET' && query.get('dryRun') !== 'All'
  }
}

function textOf({ method, path }: ProxiedRequest): string {
  return `${verbs[method] ?? method} ${path}`
}
