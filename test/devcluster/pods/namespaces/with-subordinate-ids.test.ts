/** Tests of the driver `namespaces` as an unprivileged user with subordinate ids. */
import t from 'tap'
import { runCases } from './isolated.ts'

await runCases(t, 'subordinate')
