/**
 * A process with an embedded cluster. The first argument is the folder in which the cluster keeps its objects. The process writes the
 * kubeconfig to this folder and prints a line. The process runs until it is killed, or until its parent process ends.
 */
import { join } from 'node:path'
import { startDevCluster } from '../../../src/devcluster/dev-cluster.ts'
import { createLogger } from '../../../src/telemetry/logger.ts'

const directory = process.argv[2]!
const cluster = await startDevCluster({
  port: 0,
  directory,
  keepObjects: true,
  controllers: false,
  logger: createLogger({ level: 'warn', pretty: true }),
})
await cluster.writeKubeconfig(join(directory, 'kubeconfig'))
process.stdin.resume().once('close', () => process.exit())
process.stdout.write('ready\n')
