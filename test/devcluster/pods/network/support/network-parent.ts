/**
 * A process that runs the network of a cluster until it is killed. Its arguments are a command prefix that enters the network namespace.
 */
import { ClusterNetwork } from '../../../../../src/devcluster/pods/network/cluster-network.ts'
import { createLogger } from '../../../../../src/telemetry/logger.ts'

await ClusterNetwork.start({ enterNetwork: process.argv.slice(2), acceptApiServer: () => undefined, logger: createLogger() })
process.stdout.write('started\n')
setInterval(() => undefined, 1000)
