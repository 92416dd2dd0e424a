/**
 * The measured process, which runs an embedded API server:
 *
 * - Argument (optional): the folder in which the objects are stored. Default: the objects are stored only in memory.
 * - Output: the first line is the connection as JSON.
 * - Input: for each line, the process collects garbage, and writes the size of its live memory in MiB as a line of JSON.
 */
import { createInterface } from 'node:readline'
import { startDevCluster } from '../../src/devcluster/dev-cluster.ts'
import { silentLogger } from '../../src/telemetry/logger.ts'
import { report } from '../controller/report.ts'
import { namespaces } from './requests.ts'

const directory = process.argv[2]
const cluster = await startDevCluster({
  port: 0,
  controllers: false,
  namespaces,
  logger: silentLogger(),
  ...(directory === undefined ? {} : { directory, keepObjects: true }),
})
const { server, ca, authorization } = cluster.connection
report({ server, ca, token: (await authorization!())!.replace('Bearer ', '') })
for await (const _line of createInterface({ input: process.stdin })) {
  await global.gc!({ execution: 'async' })
  const { heapUsed, external } = process.memoryUsage()
  report({ mb: (heapUsed + external) / 2 ** 20 })
}
await cluster.close()
