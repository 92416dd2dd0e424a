/** What tests of operators need: `proreus/testing`. */
export { FakeClock } from './fake-clock.ts'
export { startDevCluster } from '../devcluster/dev-cluster.ts'
export type { DevCluster, DevClusterOptions, DevClusterUser } from '../devcluster/dev-cluster.ts'
