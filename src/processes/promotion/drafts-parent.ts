/** What the page above the drafts says where it has to be made, in Markdown. */
export const DRAFTS_PARENT_TEXT = `Drafts of procedures that several agents of the team have learned by themselves. Agents do not find what stands below this page.

To publish a draft, review it and move it out from below this page. To turn it down, leave it here or delete it: it is not written again.`;
