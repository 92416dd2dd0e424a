/** Tests of the driver `namespaces` as root, which needs no user namespace. */
import t from 'tap'
import { runCases } from './isolated.ts'

await runCases(t, 'machine')
