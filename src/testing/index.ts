/** What tests of operators need: `proreus/testing`. */
export { FakeClock } from './fake-clock.ts'
export { startControlPlane } from './control-plane.ts'
export type { ControlPlane, ControlPlaneBackend, ControlPlaneOptions } from './control-plane.ts'
export type { ControlPlaneUser } from './users.ts'
export { startDevCluster } from '../devcluster/dev-cluster.ts'
export type { DevCluster, DevClusterOptions, DevClusterUser } from '../devcluster/dev-cluster.ts'
