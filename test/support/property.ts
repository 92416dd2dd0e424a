/** fast-check, whose properties are tried with values that follow from the commit: a run can be had again, on any machine. */
import fc from 'fast-check'
import { seed } from './seed.ts'

fc.configureGlobal({ seed })

export { fc }
