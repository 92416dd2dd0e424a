/**
 * A process that runs the network of a cluster. The process runs until a test kills it. The arguments of the process form the command that
 * starts a program in the network namespace of the cluster.
 */
import { ClusterNetwork } from '../../../../../src/devcluster/pods/network/cluster-network.ts'
import { createLogger } from '../../../../../src/telemetry/logger.ts'

await ClusterNetwork.start({ enterNetwork: process.argv.slice(2), acceptApiServer: () => undefined, logger: createLogger() })
process.stdout.write('started\n')
setInterval(() => undefined, 1000)
