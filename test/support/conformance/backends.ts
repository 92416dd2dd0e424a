/**
 * Starts the control plane of the conformance tests. The same tests run on every kind of control plane. The environment variable
 * `PROREUS_BACKEND` selects the kind.
 */
import type { Test } from 'tap'
import type { ControlPlane, ControlPlaneBackend, ControlPlaneOptions } from '../../../src/testing/control-plane-types.ts'
import { startControlPlane } from '../../../src/testing/control-plane.ts'

/** The kind of control plane: `embedded` (default), `binaries` or `existing`. */
const backend = (process.env.PROREUS_BACKEND || 'embedded') as ControlPlaneBackend

/** Starts a control plane for one test file. The control plane is stopped at the end of the test. */
export async function conformanceControlPlane(t: Test, options: Omit<ControlPlaneOptions, 'backend'> = {}): Promise<ControlPlane> {
  const controlPlane = await startControlPlane({ backend, ...options })
  t.teardown(() => controlPlane.stop())
  return controlPlane
}

/** Options for a tap test that cannot run on an existing cluster, because the test must start the control plane. */
export const needsOwnControlPlane: { skip?: string } =
  backend === 'existing' ? { skip: 'an existing cluster cannot be started by the test' } : {}

/**
 * Options for a tap test that may fail if controllers of the cluster write at the same time. The test is skipped on an existing cluster,
 * because the controllers of an existing cluster are running.
 */
export const needsQuiet: { skip?: string } =
  backend === 'existing' ? { skip: 'the controllers of an existing cluster write meanwhile' } : {}

/** Options for a tap test that cannot run on an existing cluster, because the test reads the requests that the API server has received. */
export const needsRequests: { skip?: string } = backend === 'existing' ? { skip: 'the requests of an existing cluster cannot be read' } : {}

/** Options for a tap test that sets the time of the API server. Only the embedded API server allows this. */
export const needsEmbedded: { skip?: string } =
  backend === 'embedded' ? {} : { skip: 'the API server uses the time of its machine, which a test cannot set' }
