/** Starts a real and an embedded control plane for the tests of workloads. */
import { startControlPlane } from '../../../../src/testing/control-plane.ts'
import type { ControlPlaneBackend } from '../../../../src/testing/control-plane-types.ts'
import type { Sides } from '../player.ts'
import { startNodes } from './nodes.ts'
import { Recorder } from './recorder.ts'
import type { Theatre } from './stage.ts'

export interface Theatres extends Sides<Theatre> {
  stop(): Promise<void>
}

export async function startTheatres(): Promise<Theatres> {
  const [real, embedded] = await Promise.allSettled([start('binaries'), start('embedded')])
  if (real.status === 'fulfilled' && embedded.status === 'fulfilled')
    return {
      real: real.value,
      embedded: embedded.value,
      stop: async () => void (await Promise.all([real.value.stop(), embedded.value.stop()])),
    }
  // If one control plane fails to start, the other one is stopped.
  for (const one of [real, embedded]) if (one.status === 'fulfilled') await one.value.stop()
  throw new Error('the control planes did not both start', { cause: [real, embedded].find(({ status }) => status === 'rejected') })
}

async function start(backend: ControlPlaneBackend): Promise<Theatre & { stop(): Promise<void> }> {
  // Without nodes in the options, kwok does not run. The nodes that the test creates below have no kubelets.
  const controlPlane = await startControlPlane({ backend, nodes: [], simulation: { nodeGraceMs: 3_600_000 } })
  const { client } = controlPlane
  const recorder = await Recorder.start(client)
  const stopNodes = await startNodes(client)
  return {
    client,
    recorder,
    async stop() {
      stopNodes()
      await recorder.stop()
      await controlPlane.stop()
    },
  }
}
