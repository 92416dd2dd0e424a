/** Measures the time from the end of a leader to the first reconcile of the next leader. */
import { coordination, isNotFound, systemClock } from '../../src/index.ts'
import { sleep } from '../../src/runtime/waiting.ts'
import type { ApiServer } from './api-server.ts'
import { namespace } from './apps.ts'
import type { BuiltProgram } from './programs.ts'
import { RunningProgram } from './programs.ts'

export interface FailoverSample {
  /**
   * Milliseconds from SIGKILL to the first reconcile of the next leader. A killed leader does not release its Lease. The lease duration is
   * 15 s in all programs.
   */
  readonly killed: number
  /** Milliseconds from SIGTERM to the first reconcile of the next leader. */
  readonly stopped: number
}

/**
 * Milliseconds between the start of the second process and the end of the leader. In this time, the second process must fill its cache and
 * begin to wait for the Lease.
 */
const standbyMs = 5_000

export async function measureFailover(server: ApiServer, program: BuiltProgram): Promise<FailoverSample> {
  const killed = await failover(server, program, (leader) => leader.kill())
  const stopped = await failover(server, program, (leader) => leader.terminate())
  return { killed, stopped }
}

async function failover(server: ApiServer, program: BuiltProgram, end: (leader: RunningProgram) => void): Promise<number> {
  const { client } = server.controlPlane
  await client.delete(coordination.lease, { namespace, name: 'bench' }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error
  })
  const start = (): RunningProgram => new RunningProgram(program, ['lead', namespace], server.envOf(program))
  const leader = start()
  await leader.result()
  const next = start()
  try {
    await sleep(systemClock, standbyMs)
    const endedAt = Date.now()
    end(leader)
    const { firstReconcileAt } = await next.result<{ firstReconcileAt: number }>()
    return firstReconcileAt - endedAt
  } finally {
    await Promise.all([leader.stop(), next.stop()])
  }
}
