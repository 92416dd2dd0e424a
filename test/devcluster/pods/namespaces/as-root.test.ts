/** Tests of the driver `namespaces` as root. If a process of root uses the driver, the driver needs no user namespace. */
import t from 'tap'
import { runCases } from './isolated.ts'

await runCases(t, 'machine')
