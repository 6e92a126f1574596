// Made from the server's OpenAPI document by `npm run types`.

export interface paths {
    "/api/v1/attributors": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Attributors
         * @description Every attributor with its parameters.
         */
        get: operations["list_attributors"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/dashboard/agreement": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Agreement
         * @description How far runs agree.
         */
        get: operations["agreement"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/dashboard/length": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Length
         * @description Reward and credit against length.
         */
        get: operations["length"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/dashboard/offpath": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Offpath
         * @description How much credit lies off the path to the outcome, by run.
         */
        get: operations["offpath"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/dashboard/passk": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Passk
         * @description Unbiased pass@k with an interval.
         */
        get: operations["passk"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/dashboard/rewards": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Rewards
         * @description Groups by mean reward, each with its rollouts.
         */
        get: operations["rewards"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/dashboard/tools": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Tools
         * @description Credit by tool in one run.
         */
        get: operations["tools"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/dashboard/variance": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Variance
         * @description The share of groups with one reward throughout, over training steps.
         */
        get: operations["variance"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/diagnostics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Diagnose
         * @description Failure modes of the newest trajectories of a project that meet every filter, in whole groups.
         */
        get: operations["diagnose"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/exporters": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Exporters
         * @description Every exporter with its parameters.
         */
        get: operations["list_exporters"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/exports/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Preview Export
         * @description What a trainer will see of a run: counted, and token by token for one trajectory.
         */
        get: operations["preview_export"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/formats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Formats
         * @description Every log format there is a reader for.
         */
        get: operations["list_formats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/groups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Groups
         * @description Groups of a project.
         */
        get: operations["list_groups"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/groups/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Group
         * @description One group: its rollouts, their tree of calls, and the first split that matters.
         */
        get: operations["get_group"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/groups/{id}/alignment": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Alignment
         * @description Two rollouts of a group, call by call.
         */
        get: operations["get_alignment"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/judges": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Judges
         * @description Every judge with its parameters, and the models that the server may ask.
         */
        get: operations["list_judges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/judgings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Judgings
         * @description Judgings of a project, newest first.
         */
        get: operations["list_judgings"];
        put?: never;
        /**
         * Create Judging
         * @description Queue a judging; GET /judgings/{id} says how far it is. Models are those of the server's settings alone.
         */
        post: operations["create_judging"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/judgings/upload": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Upload Opinions
         * @description Keep opinions that somebody else computed, one row of `trajcredit.opinion/1` a line, as a judging.
         */
        post: operations["upload_opinions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/judgings/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Judging
         * @description One judging.
         */
        get: operations["get_judging"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/judgings/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel Judging
         * @description The judging, which asks nothing more; what was judged stays.
         */
        post: operations["cancel_judging"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/judgings/{id}/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export Judging
         * @description What was said, as `trajcredit judge` writes it.
         */
        get: operations["export_judging"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/judgings/{id}/reliability": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Judging Reliability
         * @description How far the judge can be trusted on these trajectories: against outcomes, itself and another judging.
         */
        get: operations["judging_reliability"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/judgings/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume Judging
         * @description Queue it again for what is not judged yet; what a model answered before is not asked for again.
         */
        post: operations["resume_judging"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/labels": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Labels
         * @description The labels that count: all of one trajectory, or a page of the project.
         */
        get: operations["list_labels"];
        put?: never;
        /**
         * Give Labels
         * @description Append labels, one JSON object a line: the rows of `GET /labels/export`; only trajectory_id, span_index (or
         *     message_index with tool_call_id), verdict and labeller are needed. A verdict of null withdraws.
         */
        post: operations["give_labels"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/labels/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export Labels
         * @description Every label that counts as a `trajcredit.label/1` row, which `trajcredit eval --labels` and POST /labels take.
         */
        get: operations["export_labels"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/labels/grades": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Grade Runs
         * @description Finished runs graded on the labels; of one trajectory every run that scored it.
         */
        get: operations["grade_runs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/labels/queue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Next To Label
         * @description The next trajectory that this person has not labelled.
         */
        get: operations["next_to_label"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/rewards": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Append Rewards
         * @description Append rewards, one JSON object a line: trajectory (id or `ext:`), value, source?, span?, name?, at?
         *
         *     The log's own id alone will do where it is no id of another trajectory.
         */
        post: operations["append_rewards"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Runs
         * @description Runs of a project, newest first.
         */
        get: operations["list_runs"];
        put?: never;
        /**
         * Create Run
         * @description Queue a run of one attributor; GET /runs/{id} says how far it is.
         */
        post: operations["create_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Run
         * @description One run, by its id, or the newest finished one of an attributor.
         */
        get: operations["get_run"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}/again": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Repeat Run
         * @description Queue a run that is asked for as this one was, over the trajectories and rewards of now.
         */
        post: operations["repeat_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel Run
         * @description The run, which does not go on; one that ended stays as it is.
         */
        post: operations["cancel_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Run Events
         * @description A `state` event first and whenever the run's state changes, a `progress` event whenever more of it is done, each
         *     with the run as GET /runs/{id} gives it; the stream ends with the run.
         */
        get: operations["run_events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export Run
         * @description The credit rows of a finished run, or a trainer's file of tokens. All of it is written before the first byte is
         *     sent: a client that is slow, or goes away, holds no transaction open, and what comes is whole.
         */
        get: operations["export_run"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tokenizers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Tokenizers
         * @description The tokenizers that exports may name.
         */
        get: operations["list_tokenizers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tools": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Suggest Tools
         * @description Tools that were called and begin so, the most frequent first.
         */
        get: operations["suggest_tools"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/trajectories": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Trajectories
         * @description Trajectories of a project that meet every filter.
         */
        get: operations["list_trajectories"];
        put?: never;
        /**
         * Upload
         * @description Store a log: JSON, NDJSON, or files as multipart, as they are or as gzip or zstd.
         */
        post: operations["upload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/trajectories/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Trajectory
         * @description Everything of a trajectory but text and credit.
         */
        get: operations["get_trajectory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/trajectories/{id}/credits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Credits
         * @description What a run says of every span.
         */
        get: operations["get_credits"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/trajectories/{id}/credits/{span}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Span Credits
         * @description What every finished run says of one span.
         */
        get: operations["get_span_credits"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/trajectories/{id}/edges": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Edge Edits
         * @description What people said of its edges, and what was derived where they said otherwise.
         */
        get: operations["get_edge_edits"];
        put?: never;
        /**
         * Edit Edge
         * @description Add or remove an edge, or go back to what was derived: appended, runs that scored the trajectory are stale.
         */
        post: operations["edit_edge"];
        /**
         * Withdraw Edge Edit
         * @description Go back to what was derived for a pair of spans; what had been said stays in the history.
         */
        delete: operations["withdraw_edge_edit"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/trajectories/{id}/edges/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Preview Edge Edits
         * @description What a finished run would say of the trajectory if its edges were edited so.
         */
        post: operations["preview_edge_edits"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/trajectories/{id}/find": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Find Text
         * @description Every place of a text in all spans of a trajectory.
         */
        get: operations["find_text"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/trajectories/{id}/graph": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Graph
         * @description Which span used which earlier one.
         */
        get: operations["get_graph"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/trajectories/{id}/graph/{span}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Edges
         * @description The edges at one span, each with its reason.
         */
        get: operations["get_edges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/trajectories/{id}/opinions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Opinions
         * @description What every judging said of a trajectory, with the reasons.
         */
        get: operations["get_opinions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/trajectories/{id}/raw": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Raw
         * @description The trajectory as one line of canonical JSON.
         */
        get: operations["get_raw"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/trajectories/{id}/text": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Texts
         * @description The texts of some spans.
         */
        get: operations["get_texts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/trajectories/{id}/text/{span}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Text
         * @description The text of one span, or a range of it.
         */
        get: operations["get_text"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/trajectories/{id}/why": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Why
         * @description The arithmetic behind one number.
         */
        get: operations["get_why"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Healthz
         * @description The server is up, and its database is there.
         */
        get: operations["healthz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * AgreementPanel
         * @description Finished runs against each other, over the spans that all of them scored; the newest 10,000.
         */
        AgreementPanel: {
            /** Judged */
            judged: number;
            /** Matching */
            matching: number;
            /** Needs */
            needs: string | null;
            /** Others */
            others: number;
            /** Pairs */
            pairs: components["schemas"]["PairOut"][];
            /** Read */
            read: number;
            /** Runs */
            runs: components["schemas"]["DashboardRun"][];
            /** Shared */
            shared: number;
        };
        /**
         * AlignedRow
         * @description What stands side by side: equal, of one tool or kind but different, or only in a or b.
         */
        AlignedRow: {
            a: components["schemas"]["CellOut"] | null;
            b: components["schemas"]["CellOut"] | null;
            /** Differences */
            differences: components["schemas"]["ArgumentDifference"][];
            /**
             * State
             * @enum {string}
             */
            state: "same" | "differs" | "a" | "b";
        };
        /**
         * AlignmentFailureOut
         * @description Where a trajectory's tokens do not fit its spans.
         */
        AlignmentFailureOut: {
            /** Reason */
            reason: string;
            /** Span */
            span: number | null;
            /** Trajectory Id */
            trajectory_id: string;
            /** Turn */
            turn: number;
        };
        /**
         * AlignmentOut
         * @description Two rollouts, row by row.
         */
        AlignmentOut: {
            a: components["schemas"]["SideOut"];
            b: components["schemas"]["SideOut"];
            /** First */
            first: number | null;
            /** Label */
            label: string | null;
            /** Notes */
            notes: string[];
            /** Rows */
            rows: components["schemas"]["AlignedRow"][];
            /** Run */
            run: string | null;
            /** Scale */
            scale: number;
        };
        /**
         * ArgumentDifference
         * @description An argument that the two calls of a row have otherwise; null where one has it not.
         */
        ArgumentDifference: {
            /** A */
            a: string | null;
            /** B */
            b: string | null;
            /** Path */
            path: string;
        };
        /**
         * ArgumentOut
         * @description One argument of a call in the tree.
         */
        ArgumentOut: {
            /** Differs */
            differs: boolean;
            /** Path */
            path: string;
            /** Value */
            value: string;
        };
        /**
         * ArgumentValue
         * @description An argument of a call.
         */
        ArgumentValue: {
            /** Path */
            path: string;
            /** Value */
            value: string;
        };
        /**
         * AttributorInfo
         * @description A registered attributor.
         */
        AttributorInfo: {
            /** Name */
            name: string;
            /** Needs */
            needs: string[];
            /** Parameters */
            parameters: components["schemas"]["ParameterInfo"][];
            /**
             * Scope
             * @enum {string}
             */
            scope: "group" | "batch";
            /** Summary */
            summary: string;
        };
        /**
         * CellOut
         * @description A call or a message in one rollout.
         */
        CellOut: {
            /** Arguments */
            arguments: components["schemas"]["ArgumentValue"][];
            /** Credit */
            credit: number | null;
            /** Folded */
            folded: number;
            /** Is Error */
            is_error: boolean;
            /**
             * Kind
             * @enum {string}
             */
            kind: "system" | "user" | "assistant" | "tool_call";
            /** Name */
            name: string | null;
            /** Result */
            result: string | null;
            /** Result Size */
            result_size: number;
            /** Size */
            size: number;
            /** Span */
            span: number;
            /** Step */
            step: number | null;
            /** Text */
            text: string;
        };
        /**
         * ChanceOut
         * @description Ways to deal the same rewards out among the rollouts, in which some split is as wide.
         */
        ChanceOut: {
            /** As Wide */
            as_wide: number;
            /** Exact */
            exact: boolean;
            /** P */
            p: number;
            /** Ways */
            ways: number;
        };
        /**
         * ChecklistItem
         * @description One thing a run should have in place, as far as a log can tell (`ask`: it cannot).
         */
        ChecklistItem: {
            /** Item */
            item: string;
            /** Says */
            says: string;
            /**
             * Tick
             * @enum {string}
             */
            tick: "yes" | "no" | "in part" | "ask";
        };
        /**
         * ComparisonOut
         * @description Two policy versions, models, data sets or steps on the same tasks, paired.
         */
        ComparisonOut: {
            /** A */
            a: string;
            /** B */
            b: string;
            /** Common */
            common: number;
            /** Differences */
            differences: components["schemas"]["DifferenceOut"][];
            /** Field */
            field: string;
            /** Only A */
            only_a: number;
            /** Only B */
            only_b: number;
            /** Rollouts A */
            rollouts_a: number;
            /** Rollouts B */
            rollouts_b: number;
        };
        /**
         * CreditColumns
         * @description What one run says of one trajectory; columns have one entry a span, null where it is not scored.
         */
        CreditColumns: {
            /** Advantage */
            advantage: (number | null)[];
            /** Advantage Scale */
            advantage_scale: number;
            /** Credit */
            credit: (number | null)[];
            /** Dataset Advantage Scale */
            dataset_advantage_scale: number | null;
            /** Dataset Scale */
            dataset_scale: number | null;
            /** Headline */
            headline: string;
            /** Label */
            label: string;
            /**
             * Law
             * @enum {string}
             */
            law: "flat" | "mask" | "shared" | "free";
            /** Notes */
            notes: components["schemas"]["NoteOut"][];
            /** Run */
            run: string;
            /** Scale */
            scale: number;
            /** Stale */
            stale: boolean;
            /** Total */
            total: number | null;
        };
        /**
         * CreditNumbers
         * @description One entry a span, null where it is not scored.
         */
        CreditNumbers: {
            /** Advantage */
            advantage: (number | null)[];
            /** Credit */
            credit: (number | null)[];
        };
        /**
         * DashboardRun
         * @description A finished run as people call it, `dag #2`.
         */
        DashboardRun: {
            /** Attributor */
            attributor: string;
            /** Id */
            id: string;
            /** Label */
            label: string;
            /** Number */
            number: number;
            /** Stale */
            stale: boolean;
            /** Stale Reason */
            stale_reason: string | null;
            /** Total */
            total: number;
        };
        /**
         * DecileOut
         * @description A tenth of the trajectories by length, from 1, the shortest; equal lengths are always in one.
         */
        DecileOut: {
            /** Credit */
            credit: number | null;
            /** Example */
            example: string;
            /** Example Name */
            example_name: string;
            /** Longest */
            longest: number;
            /** N */
            n: number;
            /** Reward */
            reward: number | null;
            /** Scored */
            scored: number;
            /** Shortest */
            shortest: number;
            /** Tenth */
            tenth: number;
        };
        /**
         * DiagnosedOver
         * @description What was read.
         */
        DiagnosedOver: {
            /** Attributor */
            attributor: string;
            /** Groups */
            groups: number;
            /** Highest */
            highest: number | null;
            /** Left Out */
            left_out: number;
            /** Lowest */
            lowest: number | null;
            /** Pass At */
            pass_at: number;
            /** Passed */
            passed: number;
            /** Proxy */
            proxy: string | null;
            /** Reward */
            reward: string | null;
            /** Scored */
            scored: number;
            /** Split */
            split: string | null;
            /** Steps */
            steps: number;
            /** Tasks */
            tasks: number;
            /** Trajectories */
            trajectories: number;
            /** Trusted */
            trusted: string | null;
            /** Versions */
            versions: number;
        };
        /**
         * Diagnosis
         * @description Everything there is to say of a selection.
         */
        Diagnosis: {
            /** Checklist */
            checklist: components["schemas"]["ChecklistItem"][];
            comparison: components["schemas"]["ComparisonOut"] | null;
            diversity: components["schemas"]["DiversityOut"];
            /** Modes */
            modes: components["schemas"]["FailureModeOut"][];
            /** Notes */
            notes: components["schemas"]["NoteOut"][];
            over: components["schemas"]["DiagnosedOver"];
            /** Pass At K */
            pass_at_k: components["schemas"]["PassAtKOut"][];
            trend: components["schemas"]["TrendOut"];
        };
        /**
         * DifferenceOut
         * @description One measure: means over common tasks, b minus a with its 95 % interval, tasks that went up, down, or stayed.
         */
        DifferenceOut: {
            /** A */
            a: number;
            /** B */
            b: number;
            /** Difference */
            difference: number;
            /** Down */
            down: number;
            /** High */
            high: number | null;
            /** Low */
            low: number | null;
            /** Measure */
            measure: string;
            /** Same */
            same: number;
            /** Tasks */
            tasks: number;
            /** Unit */
            unit: string;
            /** Up */
            up: number;
        };
        /**
         * DiversityOut
         * @description How unlike the calls of siblings are; null where no group makes any.
         */
        DiversityOut: {
            /** Distinct */
            distinct: number | null;
            /** Groups */
            groups: number;
            /** Identical */
            identical: number;
            /** Overlap */
            overlap: number | null;
        };
        /**
         * EdgeChange
         * @description What is to hold of the edge of one pair of spans.
         */
        EdgeChange: {
            /**
             * Action
             * @enum {string}
             */
            action: "add" | "remove" | "withdraw";
            /** Child */
            child: number;
            /** Parent */
            parent: number;
        };
        /**
         * EdgeColumns
         * @description The dependency graph: columns with one entry an edge, ordered by child, then parent.
         */
        EdgeColumns: {
            /** Child */
            child: number[];
            /** Kind */
            kind: ("call" | "turn" | "value" | "state" | "control" | "context" | "explicit" | "override")[];
            /** Normalised */
            normalised: boolean[];
            /** Parent */
            parent: number[];
            /** Rule */
            rule: string[];
            /** Weight */
            weight: number[];
        };
        /**
         * EdgeEditPreview
         * @description A run's numbers of one trajectory as they are, and as they would be. Nothing of it is stored.
         */
        EdgeEditPreview: {
            /** Advantage Scale */
            advantage_scale: number;
            after: components["schemas"]["CreditNumbers"];
            before: components["schemas"]["CreditNumbers"];
            /** Changed */
            changed: number;
            /** Label */
            label: string;
            /** N Trajectories */
            n_trajectories: number;
            /** Notes */
            notes: components["schemas"]["NoteOut"][];
            /** Others Changed */
            others_changed: number;
            /** Run */
            run: string;
            /** Scale */
            scale: number;
        };
        /**
         * EdgeEditPreviewRequest
         * @description Which run is to be scored again, on the edges as they are now with which changes.
         * @example {
         *       "changes": [
         *         {
         *           "action": "remove",
         *           "child": 6,
         *           "parent": 3
         *         }
         *       ],
         *       "run": "dag"
         *     }
         */
        EdgeEditPreviewRequest: {
            /** Changes */
            changes: components["schemas"]["EdgeChange"][];
            /** Run */
            run: string;
        };
        /**
         * EdgeEditRequest
         * @description A change with its reason and the name of who makes it.
         * @example {
         *       "action": "remove",
         *       "child": 6,
         *       "parent": 3,
         *       "person": "Ann",
         *       "reason": "the id came from the user, not from this result"
         *     }
         */
        EdgeEditRequest: {
            /**
             * Action
             * @enum {string}
             */
            action: "add" | "remove" | "withdraw";
            /** Child */
            child: number;
            /** Parent */
            parent: number;
            /** Person */
            person: string;
            /** Reason */
            reason: string;
        };
        /**
         * EdgeEdits
         * @description What is in force, by child, then parent, and everything that was ever said, oldest first.
         */
        EdgeEdits: {
            /** History */
            history: components["schemas"]["EdgeSaying"][];
            /** In Force */
            in_force: components["schemas"]["EditedEdge"][];
        };
        /**
         * EdgeEvidence
         * @description One edge with its reason.
         */
        EdgeEvidence: {
            /** Child */
            child: number;
            /**
             * Kind
             * @enum {string}
             */
            kind: "call" | "turn" | "value" | "state" | "control" | "context" | "explicit" | "override";
            /** Matches */
            matches: components["schemas"]["EdgeMatch"][];
            /** Parent */
            parent: number;
            /** Rule */
            rule: string;
            /** Sources */
            sources: number;
            /** Weight */
            weight: number;
            /** Why */
            why: string;
        };
        /**
         * EdgeEvidenceList
         * @description What a span is fed by and what it feeds.
         */
        EdgeEvidenceList: {
            /** Fed By */
            fed_by: components["schemas"]["EdgeEvidence"][];
            /** Feeds */
            feeds: components["schemas"]["EdgeEvidence"][];
        };
        /**
         * EdgeMatch
         * @description One value on both sides: half-open character ranges into the texts of child and parent.
         */
        EdgeMatch: {
            /** Child End */
            child_end: number;
            /** Child Start */
            child_start: number;
            /** Child Text */
            child_text: string;
            /** Parent End */
            parent_end: number;
            /** Parent Start */
            parent_start: number;
            /** Parent Text */
            parent_text: string;
        };
        /**
         * EdgeSaying
         * @description What a person said of the edge of one pair of spans.
         */
        EdgeSaying: {
            /**
             * Action
             * @enum {string}
             */
            action: "add" | "remove" | "withdraw";
            /** At */
            at: string | null;
            /** Child */
            child: number;
            /** Number */
            number: number | null;
            /** Parent */
            parent: number;
            /** Person */
            person: string | null;
            /** Reason */
            reason: string;
        };
        /**
         * EditedEdge
         * @description A pair whose edge is as a person says.
         */
        EditedEdge: {
            derived: components["schemas"]["EdgeEvidence"] | null;
            saying: components["schemas"]["EdgeSaying"];
        };
        /**
         * ExporterInfo
         * @description A registered exporter; one with a parameter `tokenizer` writes tokens.
         */
        ExporterInfo: {
            /** Name */
            name: string;
            /** Parameters */
            parameters: components["schemas"]["ParameterInfo"][];
            /** Suffix */
            suffix: string;
            /** Summary */
            summary: string;
        };
        /**
         * FailureEvidence
         * @description One place to look at.
         */
        FailureEvidence: {
            /** External Id */
            external_id: string | null;
            /** Says */
            says: string;
            /** Span */
            span: number | null;
            /** Trajectory */
            trajectory: string;
        };
        /**
         * FailureModeOut
         * @description One failure mode. Figure, its 95 % interval by tasks and the threshold are in `unit`; null: not to be taken.
         */
        FailureModeOut: {
            /** Evidence */
            evidence: components["schemas"]["FailureEvidence"][];
            /** Figure */
            figure: number | null;
            /** High */
            high: number | null;
            /** Low */
            low: number | null;
            /** Mitigation */
            mitigation: string;
            /** Mode */
            mode: string;
            /** More */
            more: number;
            /** Needs */
            needs: string | null;
            /** Says */
            says: string;
            /**
             * Status
             * @enum {string}
             */
            status: "found" | "clear" | "needs";
            /** Threshold */
            threshold: number | null;
            /** Title */
            title: string;
            /** Unit */
            unit: string;
        };
        /**
         * FormatInfo
         * @description A registered log format.
         */
        FormatInfo: {
            /** Name */
            name: string;
            /** Summary */
            summary: string;
        };
        /**
         * FoundOut
         * @description Where a text stands. `span` and `start` have one entry a hit, `spans` and `counts` one a span that has hits.
         */
        FoundOut: {
            /** Counts */
            counts: number[];
            /** Length */
            length: number;
            /** Next */
            next: number | null;
            /** Q */
            q: string;
            /** Span */
            span: number[];
            /** Spans */
            spans: number[];
            /** Start */
            start: (number | null)[];
            /** Total */
            total: number;
        };
        /**
         * FurthestOut
         * @description The trajectory on which two runs agree least.
         */
        FurthestOut: {
            /** External Id */
            external_id: string;
            /** Id */
            id: string;
            /** Value */
            value: number;
        };
        /**
         * GradeFigure
         * @description A mean with its 95 % interval; null where there is nothing to take it over.
         */
        GradeFigure: {
            /** High */
            high: number | null;
            /** Low */
            low: number | null;
            /** Value */
            value: number | null;
        };
        /**
         * GradesOut
         * @description Finished runs, newest first, of one label the newest, graded on labels.
         */
        GradesOut: {
            /** Blind */
            blind: number;
            kappa: components["schemas"]["KappaOut"] | null;
            /** Labelled */
            labelled: number;
            /** Labels */
            labels: number;
            /** Remarks */
            remarks: string[];
            /** Runs */
            runs: components["schemas"]["RunGrade"][];
        };
        /**
         * GroupMember
         * @description One rollout of a group.
         */
        GroupMember: {
            /** External Id */
            external_id: string;
            /** Id */
            id: string;
            /** N Calls */
            n_calls: number | null;
            /** N Spans */
            n_spans: number;
            /** Number */
            number: number;
            /** Outcome */
            outcome: number | null;
            /** Outcome Source */
            outcome_source: ("verifier" | "human" | "reward_model" | "judge") | null;
            /** Passed */
            passed: boolean | null;
            /** Path */
            path: number | null;
            /** Policy Version */
            policy_version: string | null;
            /** Reward */
            reward: number | null;
            /** Trial */
            trial: string | null;
        };
        /**
         * GroupOut
         * @description One group: its rollouts, how they did, what they did, and what divides them.
         */
        GroupOut: {
            /** A */
            a: string | null;
            /** B */
            b: string | null;
            /** Dataset */
            dataset: string | null;
            /** Id */
            id: string;
            /** Label */
            label: string | null;
            /** Mean */
            mean: number | null;
            /** Members */
            members: components["schemas"]["GroupMember"][];
            /** Name */
            name: string;
            /** Notes */
            notes: string[];
            /** Pass At K */
            pass_at_k: number[];
            /** Passed */
            passed: number;
            /** Prompt */
            prompt: string;
            /** Prompts Differ */
            prompts_differ: boolean;
            /** Role */
            role: string | null;
            /** Run */
            run: string | null;
            /** Scored */
            scored: number;
            /** Sd */
            sd: number | null;
            /** Sentence */
            sentence: string;
            /** Size */
            size: number;
            /** Source */
            source: ("verifier" | "human" | "reward_model" | "judge") | null;
            split: components["schemas"]["SplitOut"] | null;
            /** Step */
            step: number | null;
            /** Task */
            task: string | null;
            /** Tree */
            tree: components["schemas"]["TreeNodeOut"][];
            /** Zero Variance */
            zero_variance: boolean;
        };
        /**
         * GroupPage
         * @description A page of groups; `next` is the cursor of the one after it.
         */
        GroupPage: {
            /** Items */
            items: components["schemas"]["GroupRow"][];
            /** Next */
            next: string | null;
            /** Total */
            total: number;
            /** Total Exact */
            total_exact: boolean;
        };
        /**
         * GroupRow
         * @description One line of the list of groups.
         */
        GroupRow: {
            /**
             * Created
             * Format: date-time
             */
            created: string;
            /** Dataset */
            dataset: string | null;
            /** Id */
            id: string;
            /** Mean */
            mean: number | null;
            /** Name */
            name: string;
            /** Passed */
            passed: number;
            /** Rewards */
            rewards: (number | null)[];
            /** Role */
            role: string | null;
            /** Scored */
            scored: number;
            /** Sd */
            sd: number | null;
            /** Size */
            size: number;
            /** Step */
            step: number | null;
            /** Task */
            task: string | null;
            /** Zero Variance */
            zero_variance: boolean;
        };
        /**
         * Health
         * @description The server is up.
         */
        Health: {
            /** Database */
            database: string | null;
            /**
             * Status
             * @default ok
             * @constant
             */
            status: "ok";
            /** Version */
            version: string;
        };
        /**
         * IngestItem
         * @description What became of one trajectory of an upload, or of one record that could not be read.
         */
        IngestItem: {
            /** External Id */
            external_id?: string | null;
            /** File */
            file?: string | null;
            /** Id */
            id?: string | null;
            /** Line */
            line?: number | null;
            /** Reason */
            reason?: string | null;
            /** Report */
            report?: components["schemas"]["NoteOut"][];
            /**
             * Status
             * @enum {string}
             */
            status: "created" | "duplicate" | "replaced" | "rejected" | "conflict" | "skipped";
        };
        /**
         * IngestProblem
         * @description Nothing of an upload was stored, and why; the first item with a reason is the problem.
         */
        IngestProblem: {
            /** Byte */
            byte?: number | null;
            /** Conflict */
            conflict: number;
            /** Created */
            created: number;
            /** Detail */
            detail: string;
            /** Duplicate */
            duplicate: number;
            /** Field */
            field?: string | null;
            /** File */
            file?: string | null;
            /** Instance */
            instance?: string | null;
            /** Items */
            items: components["schemas"]["IngestItem"][];
            /** Line */
            line?: number | null;
            /** Rejected */
            rejected: number;
            /** Replaced */
            replaced: number;
            /** Status */
            status: number;
            /** Title */
            title: string;
            /**
             * Type
             * @default about:blank
             */
            type: string;
        };
        /**
         * IngestResult
         * @description Per item, in the order of the input; a 2xx means that `created` and `replaced` are committed and on disk.
         */
        IngestResult: {
            /** Conflict */
            conflict: number;
            /** Created */
            created: number;
            /** Duplicate */
            duplicate: number;
            /** Items */
            items: components["schemas"]["IngestItem"][];
            /** Rejected */
            rejected: number;
            /** Replaced */
            replaced: number;
        };
        /**
         * IntervalOut
         * @description A figure with its 95 % interval; the ends are null where too little is there to tell.
         */
        IntervalOut: {
            /** High */
            high: number | null;
            /** Low */
            low: number | null;
            /** Value */
            value: number;
        };
        /**
         * JudgeInfo
         * @description A registered judge.
         */
        JudgeInfo: {
            /** Asks Model */
            asks_model: boolean;
            /** Name */
            name: string;
            /** On The Spot */
            on_the_spot: boolean;
            /** Over Http */
            over_http: boolean;
            /** Parameters */
            parameters: components["schemas"]["ParameterInfo"][];
            /** Summary */
            summary: string;
        };
        /**
         * JudgeModel
         * @description A model that the operator has configured; neither its address nor its key is told.
         */
        JudgeModel: {
            /** Model */
            model: string;
            /** Name */
            name: string;
        };
        /**
         * Judges
         * @description Who can be asked.
         */
        Judges: {
            /** Items */
            items: components["schemas"]["JudgeInfo"][];
            /** Models */
            models: components["schemas"]["JudgeModel"][];
            /** Segments */
            segments: string[];
        };
        /**
         * JudgingOut
         * @description A judging, how far it is and what it took.
         */
        JudgingOut: {
            /** Cached */
            cached: number;
            /** Code Version */
            code_version: string;
            /** Cost */
            cost: number;
            /**
             * Created
             * Format: date-time
             */
            created: string;
            /** Dataset */
            dataset: string | null;
            /** Error */
            error: string | null;
            /** Fingerprint */
            fingerprint: string | null;
            /** Finished */
            finished: string | null;
            /** Id */
            id: string;
            /** Judge */
            judge: string;
            /** Judged */
            judged: number;
            /** Label */
            label: string;
            /** Missing */
            missing: number;
            /** Model */
            model: string | null;
            /** Parameters */
            parameters: {
                [key: string]: unknown;
            };
            /** Prompt Version */
            prompt_version: string | null;
            /** Requests */
            requests: number;
            /** Retries */
            retries: number;
            /**
             * Scale
             * @enum {string}
             */
            scale: "state" | "credit";
            /** Segments */
            segments: string;
            /** Started */
            started: string | null;
            /**
             * State
             * @enum {string}
             */
            state: "queued" | "running" | "done" | "incomplete" | "failed" | "cancelled";
            /** Tokens In */
            tokens_in: number;
            /** Tokens Out */
            tokens_out: number;
            /** Total */
            total: number;
            /** Uncounted */
            uncounted: number;
        };
        /**
         * JudgingPage
         * @description Judgings of a project, newest first.
         */
        JudgingPage: {
            /** Items */
            items: components["schemas"]["JudgingOut"][];
            /** Next */
            next?: string | null;
        };
        /**
         * JudgingRequest
         * @description One judge, about the trajectories of a project.
         * @example {
         *       "judge": "rules"
         *     }
         */
        JudgingRequest: {
            /**
             * Dataset
             * @default null
             */
            dataset: string | null;
            /** Judge */
            judge: string;
            /**
             * Parameters
             * @default {}
             */
            parameters: {
                [key: string]: boolean | number | string | (boolean | number | string | null)[] | null;
            };
        };
        /**
         * KappaOut
         * @description Cohen's kappa of the two people who labelled most spans in common.
         */
        KappaOut: {
            /** Labellers */
            labellers: string[];
            /** N */
            n: number;
            /** Value */
            value: number | null;
        };
        /**
         * LabelOut
         * @description One person's word on one span; of several of that person the newest.
         */
        LabelOut: {
            /**
             * At
             * Format: date-time
             */
            at: string;
            /** Blind */
            blind: boolean;
            /** External Id */
            external_id: string;
            /** Labeller */
            labeller: string;
            /** Note */
            note: string | null;
            /** Queue */
            queue: ("disagree" | "high" | "random") | null;
            /** Seconds */
            seconds: number | null;
            /** Span */
            span: number;
            /** Trajectory */
            trajectory: string;
            /**
             * Verdict
             * @enum {string}
             */
            verdict: "culprit" | "contributed" | "innocent" | "unsure";
        };
        /**
         * LabelPage
         * @description Labels that count: of one trajectory by span, of a project those that came last first.
         */
        LabelPage: {
            /** Items */
            items: components["schemas"]["LabelOut"][];
            /** Next */
            next?: string | null;
        };
        /**
         * LabelProblem
         * @description No label was taken, and why; the first row with a reason is the problem.
         */
        LabelProblem: {
            /** Byte */
            byte?: number | null;
            /** Detail */
            detail: string;
            /** Field */
            field?: string | null;
            /** File */
            file?: string | null;
            /** Given */
            given: number;
            /** Instance */
            instance?: string | null;
            /** Items */
            items: components["schemas"]["IngestItem"][];
            /** Line */
            line?: number | null;
            /** Rejected */
            rejected: number;
            /** Status */
            status: number;
            /** Title */
            title: string;
            /**
             * Type
             * @default about:blank
             */
            type: string;
        };
        /**
         * LabelResult
         * @description Labels that were taken, and those that were not.
         */
        LabelResult: {
            /** Given */
            given: number;
            /** Items */
            items: components["schemas"]["IngestItem"][];
            /** Rejected */
            rejected: number;
        };
        /**
         * LabelTurn
         * @description What a person labels next.
         */
        LabelTurn: {
            /** Done */
            done: number;
            /** Left */
            left: number;
            /** Left Other */
            left_other: number;
            /** Left Random */
            left_random: number;
            /**
             * Queue
             * @enum {string}
             */
            queue: "disagree" | "high" | "random";
            /** Runs */
            runs: number;
            /** Score */
            score: number | null;
            /** Trajectory */
            trajectory: string | null;
            /** Why */
            why: string;
        };
        /**
         * LengthPanel
         * @description Reward against the length of action spans, over the newest 10,000 trajectories of the filter.
         */
        LengthPanel: {
            /** Deciles */
            deciles: components["schemas"]["DecileOut"][];
            /** Matching */
            matching: number;
            /** N */
            n: number;
            /** Needs */
            needs: string | null;
            /** Other Sources */
            other_sources: number;
            /** Overall */
            overall: number | null;
            /** Read */
            read: number;
            run: components["schemas"]["DashboardRun"] | null;
            /** Source */
            source: ("verifier" | "human" | "reward_model" | "judge") | null;
            /**
             * Unit
             * @enum {string}
             */
            unit: "tokens" | "characters";
            /** With Tokens */
            with_tokens: number;
            within: components["schemas"]["WithinGroups"];
        };
        /**
         * NoteOut
         * @description One thing a reader or a batch guessed, repaired or left out.
         */
        NoteOut: {
            /** Code */
            code: string;
            /** Group */
            group?: string | null;
            /** Message */
            message: string;
            /** Span */
            span?: number | null;
            /** Trajectory */
            trajectory?: string | null;
        };
        /**
         * OffPathPanel
         * @description By run; the paths are those of `dag` as it comes, over the newest 10,000 trajectories.
         *
         *     Edges are those that each run saw, with what people had said of them by then.
         */
        OffPathPanel: {
            /** Items */
            items: components["schemas"]["OffPathRow"][];
            /** Matching */
            matching: number;
            /** Min Weight */
            min_weight: number;
            /** Needs */
            needs: string | null;
            /** Others */
            others: number;
            /** Read */
            read: number;
        };
        /**
         * OffPathRow
         * @description One run: the part of the size of its credit on action spans with no path to the outcome.
         */
        OffPathRow: {
            /** Compared */
            compared: number;
            /** Flat */
            flat: number;
            /** Most */
            most: string | null;
            /** Most Name */
            most_name: string | null;
            /** Off */
            off: number;
            run: components["schemas"]["DashboardRun"];
            /** Share */
            share: number | null;
            /** Spans */
            spans: number;
            /** Trajectories */
            trajectories: number;
        };
        /**
         * OpinionOut
         * @description What one judging says of a trajectory.
         */
        OpinionOut: {
            /** Judge */
            judge: string;
            /** Judging */
            judging: string;
            /** Label */
            label: string;
            /** Missing */
            missing: string | null;
            /** Model */
            model: string | null;
            /** Prompt Version */
            prompt_version: string | null;
            /**
             * Scale
             * @enum {string}
             */
            scale: "state" | "credit";
            /** Segments */
            segments: components["schemas"]["SegmentOut"][];
            /** Start */
            start: number;
        };
        /**
         * OpinionProblem
         * @description No row was kept, and why; the first one is the problem.
         */
        OpinionProblem: {
            /** Byte */
            byte?: number | null;
            /** Detail */
            detail: string;
            /** Field */
            field?: string | null;
            /** File */
            file?: string | null;
            /** Instance */
            instance?: string | null;
            /** Items */
            items: components["schemas"]["IngestItem"][];
            judging: components["schemas"]["JudgingOut"] | null;
            /** Kept */
            kept: number;
            /** Line */
            line?: number | null;
            /** Rejected */
            rejected: number;
            /** Status */
            status: number;
            /** Title */
            title: string;
            /**
             * Type
             * @default about:blank
             */
            type: string;
        };
        /**
         * OpinionResult
         * @description What became of each row, and the judging that has those that were kept.
         */
        OpinionResult: {
            /** Items */
            items: components["schemas"]["IngestItem"][];
            judging: components["schemas"]["JudgingOut"] | null;
            /** Kept */
            kept: number;
            /** Rejected */
            rejected: number;
        };
        /**
         * OpinionsOut
         * @description What all judgings say of a trajectory, the newest first.
         */
        OpinionsOut: {
            /** Items */
            items: components["schemas"]["OpinionOut"][];
        };
        /**
         * PairOut
         * @description Two runs, as positions in `runs`.
         */
        PairOut: {
            /** A */
            a: number;
            /** B */
            b: number;
            /** Flat */
            flat: number;
            furthest: components["schemas"]["FurthestOut"] | null;
            /** N */
            n: number;
            /** Value */
            value: number | null;
        };
        /**
         * ParameterInfo
         * @description One parameter of an attributor or exporter.
         */
        ParameterInfo: {
            /** Choices */
            choices?: string[] | null;
            /** Default */
            default: string;
            /** Name */
            name: string;
            /** Sentence */
            sentence: string;
            /** Type */
            type: string;
        };
        /**
         * PassAtKOut
         * @description 1 - C(n-c, k) / C(n, k), mean of groups with n >= k; 95 % bootstrap over tasks.
         */
        PassAtKOut: {
            /** Groups */
            groups: number;
            /** High */
            high: number | null;
            /** K */
            k: number;
            /** Left Out */
            left_out: number;
            /** Low */
            low: number | null;
            /** Value */
            value: number;
        };
        /**
         * PassPanel
         * @description pass@k, every group counted once.
         */
        PassPanel: {
            /** Draws */
            draws: number;
            /** Groups */
            groups: number;
            /** Needs */
            needs: string | null;
            /** Pass At */
            pass_at: number;
            /** Points */
            points: components["schemas"]["PassPoint"][];
            /** Rollouts */
            rollouts: number;
            /** Seed */
            seed: number;
            /** Unscored */
            unscored: number;
        };
        /**
         * PassPoint
         * @description 1 - C(n-c, k) / C(n, k), the mean over the groups of k scored rollouts and more; bootstrap over these groups.
         */
        PassPoint: {
            /** Groups */
            groups: number;
            /** High */
            high: number | null;
            /** K */
            k: number;
            /** Left Out */
            left_out: number;
            /** Low */
            low: number | null;
            /** Value */
            value: number;
        };
        /**
         * PathStep
         * @description One edge on the best path from a span to where the outcome is looked at.
         */
        PathStep: {
            /** Child */
            child: number;
            /**
             * Kind
             * @enum {string}
             */
            kind: "call" | "turn" | "value" | "state" | "control" | "context" | "explicit" | "override";
            /** Parent */
            parent: number;
            /** Why */
            why: string;
        };
        /**
         * PreviewOut
         * @description Counts of an export, and the rows of one trajectory.
         */
        PreviewOut: {
            /** Advantage Mean */
            advantage_mean: number | null;
            /** Looked At */
            looked_at: number;
            /** Of */
            of: number;
            /** Remarks */
            remarks: string[];
            /** Rows */
            rows: components["schemas"]["RowPreviewOut"][];
            /** Run */
            run: string;
            /** Span Rows */
            span_rows: number | null;
            totals: components["schemas"]["TotalsOut"] | null;
        };
        /**
         * Problem
         * @description RFC 9457: what is wrong, where, and what to do.
         */
        Problem: {
            /** Byte */
            byte?: number | null;
            /** Detail */
            detail: string;
            /** Field */
            field?: string | null;
            /** File */
            file?: string | null;
            /** Instance */
            instance?: string | null;
            /** Line */
            line?: number | null;
            /** Status */
            status: number;
            /** Title */
            title: string;
            /**
             * Type
             * @default about:blank
             */
            type: string;
        };
        /**
         * RewardGroup
         * @description One group: its rewards by the most trusted source that any of its rollouts has.
         */
        RewardGroup: {
            /** Group */
            group: string;
            /** Key */
            key: string;
            /** Mean */
            mean: number | null;
            /** Passed */
            passed: number;
            /** Rollouts */
            rollouts: components["schemas"]["RolloutDot"][];
            /** Scored */
            scored: number;
            /** Sd */
            sd: number | null;
            /** Size */
            size: number;
            /** Source */
            source: ("verifier" | "human" | "reward_model" | "judge") | null;
            /** Step */
            step: number | null;
        };
        /**
         * RewardOut
         * @description A reward as it was given.
         */
        RewardOut: {
            /** At */
            at: string | null;
            /** Name */
            name: string | null;
            /** Received */
            received?: string | null;
            /**
             * Source
             * @enum {string}
             */
            source: "verifier" | "human" | "reward_model" | "judge";
            /** Span */
            span: number | null;
            /** Value */
            value: number;
        };
        /**
         * RewardProblem
         * @description No reward was appended, and why; the first row with a reason is the problem.
         */
        RewardProblem: {
            /** Appended */
            appended: number;
            /** Byte */
            byte?: number | null;
            /** Detail */
            detail: string;
            /** Field */
            field?: string | null;
            /** File */
            file?: string | null;
            /** Instance */
            instance?: string | null;
            /** Items */
            items: components["schemas"]["IngestItem"][];
            /** Line */
            line?: number | null;
            /** Rejected */
            rejected: number;
            /** Stale Runs */
            stale_runs: number;
            /** Status */
            status: number;
            /** Title */
            title: string;
            /**
             * Type
             * @default about:blank
             */
            type: string;
        };
        /**
         * RewardResult
         * @description Late rewards that were appended, and those that were not.
         */
        RewardResult: {
            /** Appended */
            appended: number;
            /** Items */
            items: components["schemas"]["IngestItem"][];
            /** Rejected */
            rejected: number;
            /** Stale Runs */
            stale_runs: number;
        };
        /**
         * RewardsPanel
         * @description Groups by mean reward, a page of them; `low` and `high` are over all pages.
         */
        RewardsPanel: {
            /** Groups */
            groups: number;
            /** High */
            high: number | null;
            /** Items */
            items: components["schemas"]["RewardGroup"][];
            /** Low */
            low: number | null;
            /** Needs */
            needs: string | null;
            /** Next */
            next: number | null;
            /** Pass At */
            pass_at: number;
            /** Rollouts */
            rollouts: number;
            /** Scored */
            scored: number;
            /** Sources */
            sources: ("verifier" | "human" | "reward_model" | "judge")[];
            /** Start */
            start: number;
        };
        /**
         * RolloutDot
         * @description One rollout; its reward is null where it has none, or none of the source that its group is read by.
         */
        RolloutDot: {
            /** External Id */
            external_id: string;
            /** Id */
            id: string;
            /** Reward */
            reward: number | null;
        };
        /**
         * RowPreviewOut
         * @description One row as exported; lists have one entry a response token from `start` on, at most 2,000.
         */
        RowPreviewOut: {
            /** Advantages */
            advantages: number[];
            /** Ids */
            ids: number[];
            /**
             * Ids Source
             * @enum {string}
             */
            ids_source: "engine" | "retokenized";
            /** Mask */
            mask: number[];
            /** Prompt Ids */
            prompt_ids: number[];
            /** Prompt Texts */
            prompt_texts: string[] | null;
            /** Prompt Tokens */
            prompt_tokens: number;
            /** Response Tokens */
            response_tokens: number;
            /** Row */
            row: number;
            /** Spans */
            spans: number[];
            /** Start */
            start: number;
            /** Texts */
            texts: string[] | null;
            /** Trained */
            trained: number;
            /** Trajectory */
            trajectory: string;
            /** Uid */
            uid: string;
        };
        /**
         * RunGrade
         * @description How well one finished run blames the labelled culprits.
         */
        RunGrade: {
            /** Graded */
            graded: number;
            hit_at_1: components["schemas"]["GradeFigure"];
            hit_at_3: components["schemas"]["GradeFigure"];
            /** Label */
            label: string;
            mrr: components["schemas"]["GradeFigure"];
            /** Number */
            number: number;
            /** Run */
            run: string;
            /** Stale */
            stale: boolean;
            /** Stale Reason */
            stale_reason: string | null;
        };
        /**
         * RunOut
         * @description One attributor with its parameters over a set of trajectories, and how far it is.
         */
        RunOut: {
            /** Attributor */
            attributor: string;
            /** Code Version */
            code_version: string;
            /**
             * Created
             * Format: date-time
             */
            created: string;
            /** Critic */
            critic: string | null;
            /** Critic Fingerprint */
            critic_fingerprint: string | null;
            /** Dataset */
            dataset: string | null;
            /** Done */
            done: number;
            /** Edge Version */
            edge_version: string;
            /** Error */
            error: string | null;
            /** Finished */
            finished: string | null;
            /** Group By */
            group_by: string | null;
            /** Id */
            id: string;
            /** Judge */
            judge: string | null;
            /** Judge Fingerprint */
            judge_fingerprint: string | null;
            /** Label */
            label: string;
            /** Notes */
            notes: components["schemas"]["NoteOut"][];
            /** Number */
            number: number;
            /** Parameters */
            parameters: {
                [key: string]: unknown;
            };
            /** Reward Name */
            reward_name: string | null;
            /** Reward Source */
            reward_source: ("verifier" | "human" | "reward_model" | "judge") | null;
            /** Seed */
            seed: number | null;
            /** Stale */
            stale: boolean;
            /** Stale Reason */
            stale_reason: string | null;
            /** Started */
            started: string | null;
            /**
             * State
             * @enum {string}
             */
            state: "queued" | "running" | "done" | "failed" | "cancelled";
            /** Total */
            total: number;
            /** Watermark */
            watermark: number;
        };
        /**
         * RunPage
         * @description Runs of a project, newest first.
         */
        RunPage: {
            /** Items */
            items: components["schemas"]["RunOut"][];
            /** Next */
            next?: string | null;
        };
        /**
         * RunRequest
         * @description One attributor over the trajectories of a project.
         * @example {
         *       "attributor": "dag",
         *       "parameters": {
         *         "gamma": 0.95
         *       }
         *     }
         */
        RunRequest: {
            /** Attributor */
            attributor: string;
            /**
             * Dataset
             * @default null
             */
            dataset: string | null;
            /**
             * Group By
             * @default null
             */
            group_by: string | null;
            /**
             * Parameters
             * @default {}
             */
            parameters: {
                [key: string]: boolean | number | string | (boolean | number | string | null)[] | null;
            };
            /**
             * Reward
             * @default null
             */
            reward: string | null;
        };
        /**
         * SegmentOut
         * @description What is said of one segment; positions are spans of the trajectory.
         */
        SegmentOut: {
            /** Actions */
            actions: number[];
            /** Credit */
            credit: number | null;
            /** Reason */
            reason: string;
            /** Score */
            score: number | null;
            /** Spans */
            spans: number[];
        };
        /**
         * SideOut
         * @description One of two rollouts that stand side by side.
         */
        SideOut: {
            /** External Id */
            external_id: string;
            /** Id */
            id: string;
            /** Number */
            number: number;
            /** Passed */
            passed: boolean | null;
            /** Reward */
            reward: number | null;
        };
        /**
         * SpanCredit
         * @description What one finished run says of one span.
         */
        SpanCredit: {
            /** Advantage */
            advantage: number | null;
            /** Credit */
            credit: number | null;
            /** Label */
            label: string;
            /** Number */
            number: number;
            /** Run */
            run: string;
            /** Stale */
            stale: boolean;
            /** Stale Reason */
            stale_reason: string | null;
        };
        /**
         * SpanCredits
         * @description All finished runs that scored the trajectory, newest first; of runs with the same label only the newest.
         */
        SpanCredits: {
            /** Items */
            items: components["schemas"]["SpanCredit"][];
            /** Span */
            span: number;
        };
        /**
         * SpanText
         * @description The text of one span, cut in the middle where it is long: `head` and `tail` of `size` characters.
         */
        SpanText: {
            /** Call Id */
            call_id?: string | null;
            /** Head */
            head: string;
            /** Size */
            size: number;
            /** Span */
            span: number;
            /**
             * Tail
             * @default
             */
            tail: string;
        };
        /**
         * SpanTextWindow
         * @description The texts of consecutive spans.
         */
        SpanTextWindow: {
            /** Items */
            items: components["schemas"]["SpanText"][];
        };
        /**
         * SplitOut
         * @description The tool, or the argument of one, that divides the rollouts as their rewards do.
         */
        SplitOut: {
            /** Also */
            also: string[];
            /** Argument */
            argument: string | null;
            chance: components["schemas"]["ChanceOut"];
            /** Gap */
            gap: number;
            high: components["schemas"]["SplitSide"];
            /** Last Step */
            last_step: number;
            /** Left Out */
            left_out: number;
            /** Looked At */
            looked_at: number;
            low: components["schemas"]["SplitSide"];
            /** Share */
            share: number;
            /** Step */
            step: number;
            /** Tool */
            tool: string;
            /** Weak */
            weak: boolean;
        };
        /**
         * SplitSide
         * @description Rollouts that go one way.
         */
        SplitSide: {
            /** Has */
            has: boolean;
            /** Mean */
            mean: number;
            /** Members */
            members: number[];
            /** More Values */
            more_values: number;
            /** Values */
            values: string[];
            /** Without */
            without: number;
        };
        /**
         * StepBin
         * @description The groups of some training steps, both ends included.
         */
        StepBin: {
            /** All Fail */
            all_fail: number;
            /** All Pass */
            all_pass: number;
            /** First */
            first: number;
            /** Flagged */
            flagged: boolean;
            /** Groups */
            groups: number;
            /** Last */
            last: number;
        };
        /**
         * Suggestions
         * @description Names that a filter box may offer: the most frequent, at most 200.
         */
        Suggestions: {
            /** Items */
            items: string[];
        };
        /**
         * TermOut
         * @description One summand of a span's credit.
         */
        TermOut: {
            /** Name */
            name: string;
            /** Spans */
            spans: number[];
            /** Value */
            value: number;
        };
        /**
         * Tokenizers
         * @description Names that `tokenizer` of an export may have.
         */
        Tokenizers: {
            /** Items */
            items: string[];
        };
        /**
         * ToolCredit
         * @description The calls of one tool. Null where none of them is scored.
         */
        ToolCredit: {
            /** Calls */
            calls: number;
            /** Errors */
            errors: number;
            /** High */
            high: number | null;
            /** Low */
            low: number | null;
            /** Mean */
            mean: number | null;
            /** Negative */
            negative: number | null;
            /** Ranked */
            ranked: boolean;
            /** Scored */
            scored: number;
            /** Sd */
            sd: number | null;
            /** Tool */
            tool: string;
            /** Trajectories */
            trajectories: number;
        };
        /**
         * ToolsPanel
         * @description Tools by mean credit, the lowest first, then those of fewer than `least` scored calls; the newest 10,000.
         */
        ToolsPanel: {
            /** Elsewhere */
            elsewhere: number | null;
            /** Items */
            items: components["schemas"]["ToolCredit"][];
            /** Least */
            least: number;
            /** Matching */
            matching: number;
            /** Needs */
            needs: string | null;
            /** Read */
            read: number;
            run: components["schemas"]["DashboardRun"] | null;
            /** Tools */
            tools: number;
            /** Unread */
            unread: number;
        };
        /**
         * TopSpan
         * @description The most blamed span of a trajectory in the run asked for (the most praised, where nothing is blamed).
         */
        TopSpan: {
            /** Credit */
            credit: number;
            /** Name */
            name: string;
            /** Span */
            span: number;
        };
        /**
         * TotalsOut
         * @description Sums over the trajectories looked at.
         */
        TotalsOut: {
            /** Advantage Sum */
            advantage_sum: number;
            /** Cut Tokens */
            cut_tokens: number;
            /** Cut Trained */
            cut_trained: number;
            /** Exact */
            exact: number;
            /** Failed */
            failed: number;
            /** Failures */
            failures: components["schemas"]["AlignmentFailureOut"][];
            /** Left Out */
            left_out: {
                [key: string]: number;
            };
            /** Notes */
            notes: {
                [key: string]: number;
            };
            /** Prompt */
            prompt: number;
            /** Retokenized */
            retokenized: number;
            /** Rows */
            rows: number;
            /** Tokens */
            tokens: number;
            /** Trained */
            trained: number;
            /** Trajectories */
            trajectories: number;
        };
        /**
         * TrajectoryOut
         * @description The skeleton of a trajectory: everything but text and credit. Columns have one entry a span.
         */
        TrajectoryOut: {
            /** Agent */
            agent?: (string | null)[] | null;
            /** Dataset */
            dataset: string | null;
            /** External Id */
            external_id: string;
            /** File */
            file: string | null;
            /** Format */
            format: string;
            /** Group */
            group: string;
            /** Group Id */
            group_id: string;
            /** Group Mean */
            group_mean: number | null;
            /** Group Scored */
            group_scored: number;
            /** Group Size */
            group_size: number;
            /** Id */
            id: string;
            /** Is Action */
            is_action: boolean[];
            /** Is Error */
            is_error: boolean[];
            /** Is Write */
            is_write: boolean[];
            /** Kind */
            kind: ("system" | "user" | "assistant" | "reasoning" | "tool_call" | "tool_result" | "meta")[];
            /** Line */
            line: number | null;
            /** Model */
            model: string | null;
            /** N Tokens */
            n_tokens: number | null;
            /** Name */
            name: (string | null)[];
            /** Outcome */
            outcome: number | null;
            /** Outcome Source */
            outcome_source: ("verifier" | "human" | "reward_model" | "judge") | null;
            /** Policy Version */
            policy_version: string | null;
            /** Project */
            project: string;
            /** Report */
            report: components["schemas"]["NoteOut"][];
            /** Result Of */
            result_of: (number | null)[];
            /** Rewards */
            rewards: components["schemas"]["RewardOut"][];
            /** Role */
            role: string | null;
            /** Size */
            size: number[];
            /** Step */
            step: number | null;
            /** Task */
            task: string | null;
            /** Terminated */
            terminated: boolean | null;
            /** Trial */
            trial: string | null;
            /** Truncated */
            truncated: boolean | null;
            /** Turn */
            turn: number[];
            /** Write Basis */
            write_basis: string[];
        };
        /**
         * TrajectoryPage
         * @description A page of the list; `next` is the cursor of the one after it.
         */
        TrajectoryPage: {
            /** Items */
            items: components["schemas"]["TrajectoryRow"][];
            /** Next */
            next: string | null;
            /** Run */
            run?: string | null;
            /** Scale */
            scale?: number | null;
            /** Total */
            total: number;
            /** Total Exact */
            total_exact: boolean;
        };
        /**
         * TrajectoryRow
         * @description One line of the list. No text of the log is in it.
         */
        TrajectoryRow: {
            /**
             * Created
             * Format: date-time
             */
            created: string;
            /** Dataset */
            dataset: string | null;
            /** External Id */
            external_id: string;
            /** Format */
            format: string;
            /** Group */
            group: string;
            /** Group Difference */
            group_difference: number | null;
            /** Group Id */
            group_id: string;
            /** Group Mean */
            group_mean: number | null;
            /** Group Passed */
            group_passed: number;
            /** Group Scored */
            group_scored: number;
            /** Group Size */
            group_size: number;
            /** Id */
            id: string;
            /** Model */
            model: string | null;
            /** N Actions */
            n_actions: number;
            /** N Errors */
            n_errors: number;
            /** N Labels */
            n_labels: number;
            /** N Notes */
            n_notes: number;
            /** N Overrides */
            n_overrides: number;
            /** N Spans */
            n_spans: number;
            /** N Tokens */
            n_tokens: number | null;
            /** Outcome */
            outcome: number | null;
            /** Policy Version */
            policy_version: string | null;
            /** Step */
            step: number | null;
            /** Strip */
            strip?: (number | null)[] | null;
            /** Task */
            task: string | null;
            top?: components["schemas"]["TopSpan"] | null;
            /** Trial */
            trial: string | null;
        };
        /**
         * TreeCall
         * @description One call as the rollouts of a node made it.
         */
        TreeCall: {
            /** Arguments */
            arguments: components["schemas"]["ArgumentOut"][];
            /** Credit */
            credit: number | null;
            /** More Arguments */
            more_arguments: number;
            /** Splits */
            splits: boolean;
            /** Step */
            step: number;
            /** Tool */
            tool: string;
        };
        /**
         * TreeNodeOut
         * @description Calls that the same rollouts share one after the other. Without calls: where some end and others go on.
         */
        TreeNodeOut: {
            /** Calls */
            calls: components["schemas"]["TreeCall"][];
            /** Depth */
            depth: number;
            /** Leaf */
            leaf: boolean;
            /** Mean */
            mean: number | null;
            /** Members */
            members: number[];
            /** More Calls */
            more_calls: number;
            /** Parent */
            parent: number;
            /** Scored */
            scored: number;
        };
        /**
         * TrendOut
         * @description The course of training, in order.
         */
        TrendOut: {
            /** Axis */
            axis: string;
            /** Common Tasks */
            common_tasks: number;
            /** Length Unit */
            length_unit: string;
            /** Points */
            points: components["schemas"]["TrendPoint"][];
            /** Unplaced */
            unplaced: number;
        };
        /**
         * TrendPoint
         * @description One step or version, or so many neighbours; intervals are null below 8 tasks.
         */
        TrendPoint: {
            /** Doubted */
            doubted: number | null;
            /** First */
            first: number;
            /** Kl */
            kl: number | null;
            /** Label */
            label: string;
            /** Last */
            last: number;
            /** Length */
            length: number;
            /** Pass High */
            pass_high: number | null;
            /** Pass Low */
            pass_low: number | null;
            /** Pass Rate */
            pass_rate: number | null;
            /** Reward */
            reward: number | null;
            /** Reward High */
            reward_high: number | null;
            /** Reward Low */
            reward_low: number | null;
            /** Scored */
            scored: number;
            /** Trajectories */
            trajectories: number;
        };
        /**
         * VariancePanel
         * @description How many groups have one reward throughout, of those with at least two scored rollouts.
         */
        VariancePanel: {
            /** All Fail */
            all_fail: number;
            /** All Pass */
            all_pass: number;
            /** Bins */
            bins: components["schemas"]["StepBin"][];
            /** Flagged */
            flagged: boolean;
            /** Groups */
            groups: number;
            /** Needs */
            needs: string | null;
            /** Pass At */
            pass_at: number;
            share: components["schemas"]["IntervalOut"] | null;
            /** Threshold */
            threshold: number;
            /** Too Small */
            too_small: number;
            /** Without Step */
            without_step: number;
        };
        /**
         * Why
         * @description The arithmetic behind one number: the terms add up to the credit within 1e-6.
         */
        Why: {
            /** Advantage */
            advantage: number | null;
            /** Credit */
            credit: number | null;
            /** Path */
            path: components["schemas"]["PathStep"][];
            /** Span */
            span: number;
            /** Terms */
            terms: components["schemas"]["TermOut"][];
        };
        /**
         * WithinGroups
         * @description Rank correlations inside groups, averaged over `groups`; the other groups counted by why not.
         */
        WithinGroups: {
            /** Cut */
            cut: number;
            /** Groups */
            groups: number;
            mean: components["schemas"]["IntervalOut"] | null;
            /** Same Length */
            same_length: number;
            /** Same Reward */
            same_reward: number;
            /** Too Small */
            too_small: number;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    list_attributors: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AttributorInfo"][];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    agreement: {
        parameters: {
            query?: {
                /** @description The project; its name has no NUL. */
                project?: string;
                dataset?: string | null;
                group?: string | null;
                policy_version?: string | null;
                step_min?: number | null;
                step_max?: number | null;
                /** @description Ids of finished runs, or attributors, joined by commas */
                run?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgreementPanel"];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    length: {
        parameters: {
            query?: {
                /** @description The project; its name has no NUL. */
                project?: string;
                dataset?: string | null;
                group?: string | null;
                policy_version?: string | null;
                step_min?: number | null;
                step_max?: number | null;
                /** @description Ids of finished runs, or attributors, joined by commas */
                run?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LengthPanel"];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    offpath: {
        parameters: {
            query?: {
                /** @description The project; its name has no NUL. */
                project?: string;
                dataset?: string | null;
                group?: string | null;
                policy_version?: string | null;
                step_min?: number | null;
                step_max?: number | null;
                /** @description Ids of finished runs, or attributors, joined by commas */
                run?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OffPathPanel"];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    passk: {
        parameters: {
            query?: {
                /** @description The project; its name has no NUL. */
                project?: string;
                dataset?: string | null;
                group?: string | null;
                policy_version?: string | null;
                step_min?: number | null;
                step_max?: number | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PassPanel"];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    rewards: {
        parameters: {
            query?: {
                /** @description The project; its name has no NUL. */
                project?: string;
                sort?: "mean" | "-mean";
                from?: number;
                limit?: number;
                dataset?: string | null;
                group?: string | null;
                policy_version?: string | null;
                step_min?: number | null;
                step_max?: number | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RewardsPanel"];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    tools: {
        parameters: {
            query?: {
                /** @description The project; its name has no NUL. */
                project?: string;
                dataset?: string | null;
                group?: string | null;
                policy_version?: string | null;
                step_min?: number | null;
                step_max?: number | null;
                /** @description Ids of finished runs, or attributors, joined by commas */
                run?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolsPanel"];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    variance: {
        parameters: {
            query?: {
                /** @description The project; its name has no NUL. */
                project?: string;
                dataset?: string | null;
                group?: string | null;
                policy_version?: string | null;
                step_min?: number | null;
                step_max?: number | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VariancePanel"];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    diagnose: {
        parameters: {
            query?: {
                /** @description The project; its name has no NUL. */
                project?: string;
                dataset?: string | null;
                task?: string | null;
                role?: string | null;
                policy_version?: string | null;
                /** @description The model that answered */
                model?: string | null;
                step_min?: number | null;
                step_max?: number | null;
                /** @description A source, or the name of a reward */
                reward?: string | null;
                /** @description The reward it is held against */
                against?: string | null;
                /** @description Fields joined by + */
                group_by?: string | null;
                /** @description An outcome of at least this passes */
                pass_at?: number;
                /** @description With compare_b: two versions or models */
                compare_a?: string | null;
                compare_b?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Modes, figures, evidence, checklist */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Diagnosis"];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_exporters: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExporterInfo"][];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    preview_export: {
        parameters: {
            query: {
                run: string;
                /** @description An exporter, or `NAME:key=value,...`. */
                to?: string;
                /** @description One of GET /tokenizers. */
                tokenizer?: string | null;
                trajectory?: string | null;
                from?: number;
                /** @description The project; its name has no NUL. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PreviewOut"];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_formats: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FormatInfo"][];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_groups: {
        parameters: {
            query?: {
                /** @description The project; its name has no NUL. */
                project?: string;
                /** @description How the name begins */
                text?: string;
                sort?: "created" | "-created" | "mean" | "-mean" | "size" | "-size";
                cursor?: string | null;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GroupPage"];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_group: {
        parameters: {
            query?: {
                /** @description Id, or attributor: its newest finished run */
                run?: string | null;
                /** @description The project; its name has no NUL. */
                project?: string;
            };
            header?: never;
            path: {
                /** @description Ours, or `ext:` and the client's own, percent-encoded. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GroupOut"];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_alignment: {
        parameters: {
            query: {
                /** @description A member: our id, or `ext:` and the client's */
                a: string;
                /** @description A member: our id, or `ext:` and the client's */
                b: string;
                /** @description Id, or attributor: its newest finished run */
                run?: string | null;
                /** @description The project; its name has no NUL. */
                project?: string;
            };
            header?: never;
            path: {
                /** @description Ours, or `ext:` and the client's own, percent-encoded. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlignmentOut"];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_judges: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Judges"];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_judgings: {
        parameters: {
            query?: {
                /** @description The project; its name has no NUL. */
                project?: string;
                cursor?: string | null;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JudgingPage"];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    create_judging: {
        parameters: {
            query?: {
                /** @description The project; its name has no NUL. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "judge": "rules"
                 *     }
                 */
                "application/json": components["schemas"]["JudgingRequest"];
            };
        };
        responses: {
            /** @description It waits for its turn */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JudgingOut"];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    upload_opinions: {
        parameters: {
            query?: {
                /** @description The project; its name has no NUL. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /** @example {"schema": "trajcredit.opinion/1", "trajectory_id": "t-1", "judge": "mine", "scale": "credit", "segments": [{"actions": [3], "spans": [3, 4], "score": -0.5, "reason": "the wrong date"}]} */
                "application/x-ndjson": string;
            };
        };
        responses: {
            /** @description What became of each row */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpinionResult"];
                };
            };
            /** @description Every row was rejected */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["OpinionProblem"] | components["schemas"]["Problem"];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_judging: {
        parameters: {
            query?: {
                /** @description The project; its name has no NUL. */
                project?: string;
            };
            header?: never;
            path: {
                /** @description Ours, or `ext:` and the client's own, percent-encoded. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JudgingOut"];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    cancel_judging: {
        parameters: {
            query?: {
                /** @description The project; its name has no NUL. */
                project?: string;
            };
            header?: never;
            path: {
                /** @description Ours, or `ext:` and the client's own, percent-encoded. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JudgingOut"];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    export_judging: {
        parameters: {
            query?: {
                /** @description The project; its name has no NUL. */
                project?: string;
            };
            header?: never;
            path: {
                /** @description Ours, or `ext:` and the client's own, percent-encoded. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Its opinions, one row a trajectory */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    judging_reliability: {
        parameters: {
            query?: {
                /** @description Another judging, held against it */
                against?: string | null;
                /** @description A judging of the same judge, asked again */
                repeat?: string | null;
                reward?: string | null;
                group_by?: string | null;
                /** @description An outcome of at least this passes */
                pass_at?: number;
                draws?: number;
                /** @description The project; its name has no NUL. */
                project?: string;
            };
            header?: never;
            path: {
                /** @description Ours, or `ext:` and the client's own, percent-encoded. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Figures with intervals; docs/judges.md says what each is */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    resume_judging: {
        parameters: {
            query?: {
                /** @description The project; its name has no NUL. */
                project?: string;
            };
            header?: never;
            path: {
                /** @description Ours, or `ext:` and the client's own, percent-encoded. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It waits for its turn */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JudgingOut"];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_labels: {
        parameters: {
            query?: {
                /** @description Ours, or `ext:` and the log's own */
                trajectory?: string | null;
                cursor?: string | null;
                limit?: number;
                /** @description The project; its name has no NUL. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LabelPage"];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    give_labels: {
        parameters: {
            query?: {
                /** @description The project; its name has no NUL. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /** @example {"trajectory_id": "ext:t-1", "span_index": 3, "verdict": "culprit", "labeller": "ann", "blind": true, "seconds": 41, "queue": "disagree", "note": "wrong airport"} */
                "application/x-ndjson": string;
            };
        };
        responses: {
            /** @description What became of each row */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LabelResult"];
                };
            };
            /** @description Every row was rejected */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["LabelProblem"] | components["schemas"]["Problem"];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    export_labels: {
        parameters: {
            query?: {
                /** @description The project; its name has no NUL. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Rows, as an attachment */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                    "application/x-ndjson": string;
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    grade_runs: {
        parameters: {
            query?: {
                /** @description The labels that count */
                part?: "all" | "blind" | "random";
                /** @description Ours, or `ext:` and the log's own */
                trajectory?: string | null;
                /** @description The project; its name has no NUL. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GradesOut"];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    next_to_label: {
        parameters: {
            query: {
                labeller: string;
                queue?: "disagree" | "high" | "random";
                outcome?: "fail" | "pass" | "any";
                /** @description One that is passed over */
                after?: string | null;
                /** @description The project; its name has no NUL. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LabelTurn"];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    append_rewards: {
        parameters: {
            query?: {
                /** @description The project; its name has no NUL. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {"trajectory": "ext:t-1", "value": 0.0, "source": "human", "at": "2026-04-14T18:40:12Z"}
                 *     {"trajectory": "ext:t-1", "span": 4, "value": 0.5, "source": "judge", "name": "grounded"}
                 */
                "application/x-ndjson": string;
            };
        };
        responses: {
            /** @description What became of each row */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "appended": 1,
                     *       "items": [
                     *         {
                     *           "external_id": "t-1",
                     *           "file": null,
                     *           "id": null,
                     *           "line": 1,
                     *           "reason": null,
                     *           "report": [],
                     *           "status": "created"
                     *         }
                     *       ],
                     *       "rejected": 0,
                     *       "stale_runs": 2
                     *     }
                     */
                    "application/json": components["schemas"]["RewardResult"];
                };
            };
            /** @description Every row was rejected */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["RewardProblem"] | components["schemas"]["Problem"];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_runs: {
        parameters: {
            query?: {
                /** @description The project; its name has no NUL. */
                project?: string;
                attributor?: string | null;
                cursor?: string | null;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunPage"];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    create_run: {
        parameters: {
            query?: {
                /** @description The project; its name has no NUL. */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "attributor": "dag",
                 *       "parameters": {
                 *         "gamma": 0.95
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["RunRequest"];
            };
        };
        responses: {
            /** @description It waits for its turn */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "attributor": "dag",
                     *       "code_version": "0.1.0+0123456789ab",
                     *       "created": "2026-04-14T18:40:12.000000Z",
                     *       "critic": null,
                     *       "critic_fingerprint": null,
                     *       "dataset": null,
                     *       "done": 0,
                     *       "edge_version": "0123456789ab",
                     *       "error": null,
                     *       "finished": null,
                     *       "group_by": null,
                     *       "id": "019a4f3e-8d2c-7000-8000-0123456789ab",
                     *       "judge": null,
                     *       "judge_fingerprint": null,
                     *       "label": "dag:gamma=0.95",
                     *       "notes": [],
                     *       "number": 2,
                     *       "parameters": {
                     *         "gamma": 0.95
                     *       },
                     *       "reward_name": null,
                     *       "reward_source": null,
                     *       "seed": null,
                     *       "stale": false,
                     *       "stale_reason": null,
                     *       "started": null,
                     *       "state": "queued",
                     *       "total": 0,
                     *       "watermark": 0
                     *     }
                     */
                    "application/json": components["schemas"]["RunOut"];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_run: {
        parameters: {
            query?: {
                /** @description The project; its name has no NUL. */
                project?: string;
            };
            header?: never;
            path: {
                /** @description Ours, or `ext:` and the client's own, percent-encoded. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunOut"];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    repeat_run: {
        parameters: {
            query?: {
                /** @description The project; its name has no NUL. */
                project?: string;
            };
            header?: never;
            path: {
                /** @description Ours, or `ext:` and the client's own, percent-encoded. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The new one; it waits for its turn */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunOut"];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    cancel_run: {
        parameters: {
            query?: {
                /** @description The project; its name has no NUL. */
                project?: string;
            };
            header?: never;
            path: {
                /** @description Ours, or `ext:` and the client's own, percent-encoded. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunOut"];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    run_events: {
        parameters: {
            query?: {
                /** @description The project; its name has no NUL. */
                project?: string;
            };
            header?: never;
            path: {
                /** @description Ours, or `ext:` and the client's own, percent-encoded. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Events until it ends */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    export_run: {
        parameters: {
            query?: {
                /** @description An exporter, or `NAME:key=value,...`. */
                to?: string;
                /** @description One of GET /tokenizers. */
                tokenizer?: string | null;
                /** @description The project; its name has no NUL. */
                project?: string;
            };
            header?: never;
            path: {
                /** @description Ours, or `ext:` and the client's own, percent-encoded. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file, as an attachment */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                    "application/vnd.apache.parquet": string;
                    "application/x-ndjson": string;
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_tokenizers: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tokenizers"];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    suggest_tools: {
        parameters: {
            query?: {
                /** @description The project; its name has no NUL. */
                project?: string;
                text?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Suggestions"];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_trajectories: {
        parameters: {
            query?: {
                /** @description The project; its name has no NUL. */
                project?: string;
                outcome?: ("pass" | "fail" | "unscored") | null;
                outcome_min?: number | null;
                outcome_max?: number | null;
                group?: string | null;
                dataset?: string | null;
                task?: string | null;
                tool?: string | null;
                /** @description Whether a tool call failed */
                errors?: boolean | null;
                /** @description `override`: people edited its edges */
                has?: "override" | null;
                policy_version?: string | null;
                /** @description The model that answered */
                model?: string | null;
                step_min?: number | null;
                step_max?: number | null;
                /** @description Whether no other rollout is in its group */
                no_group?: boolean | null;
                /** @description Whether its group is scored, and all alike */
                zero_variance?: boolean | null;
                /** @description Whether somebody labelled a span of it */
                labelled?: boolean | null;
                /** @description Part of the id */
                text?: string | null;
                sort?: "created" | "-created" | "outcome" | "-outcome" | "spans" | "-spans";
                /** @description What top and strip are of */
                run?: string | null;
                cursor?: string | null;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of them */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "created": "2026-04-14T18:40:12.000000Z",
                     *           "dataset": "runs.jsonl",
                     *           "external_id": "t-1",
                     *           "format": "openai_chat",
                     *           "group": "g-1",
                     *           "group_difference": -0.5,
                     *           "group_id": "5f0c3f1d9a7b4e2286c1d0e9b8a7f645",
                     *           "group_mean": 0.5,
                     *           "group_passed": 2,
                     *           "group_scored": 4,
                     *           "group_size": 4,
                     *           "id": "019a4f3e-7c1b-7000-8000-0123456789ab",
                     *           "model": "gpt-4o",
                     *           "n_actions": 6,
                     *           "n_errors": 1,
                     *           "n_labels": 2,
                     *           "n_notes": 0,
                     *           "n_overrides": 0,
                     *           "n_spans": 14,
                     *           "n_tokens": 2134,
                     *           "outcome": 0,
                     *           "policy_version": "v7",
                     *           "step": 120,
                     *           "strip": [
                     *             null,
                     *             -0.1,
                     *             -0.36,
                     *             -0.04
                     *           ],
                     *           "task": "book LHR-CDG",
                     *           "top": {
                     *             "credit": -0.36,
                     *             "name": "search_flights",
                     *             "span": 3
                     *           },
                     *           "trial": null
                     *         }
                     *       ],
                     *       "next": "WyItY3JlYXRlZCIsMTIsMTJd",
                     *       "run": "019a4f3e-8d2c-7000-8000-0123456789ab",
                     *       "scale": 0.36,
                     *       "total": 212,
                     *       "total_exact": true
                     *     }
                     */
                    "application/json": components["schemas"]["TrajectoryPage"];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    upload: {
        parameters: {
            query?: {
                /** @description The project; its name has no NUL. */
                project?: string;
                /** @description What the log is; sniffed where not given */
                format?: string | null;
                /** @description What reports call the log */
                name?: string | null;
                /** @description Take the place of stored trajectories with the same id */
                replace?: boolean;
            };
            header?: {
                "Idempotency-Key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": unknown;
                "application/octet-stream": string;
                /** @example {"trajectory_id": "t-1", "group_id": "g-1", "reward": 1.0, "messages": [{"role": "user", "content": "Which flight?"}, {"role": "assistant", "content": "FL-2210."}]} */
                "application/x-ndjson": string;
                "multipart/form-data": {
                    [key: string]: string;
                };
            };
        };
        responses: {
            /** @description What became of each */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "conflict": 0,
                     *       "created": 1,
                     *       "duplicate": 0,
                     *       "items": [
                     *         {
                     *           "external_id": "t-1",
                     *           "file": "runs.jsonl",
                     *           "id": "019a4f3e-7c1b-7000-8000-0123456789ab",
                     *           "line": 1,
                     *           "reason": null,
                     *           "report": [],
                     *           "status": "created"
                     *         }
                     *       ],
                     *       "rejected": 0,
                     *       "replaced": 0
                     *     }
                     */
                    "application/json": components["schemas"]["IngestResult"];
                };
            };
            /** @description Every trajectory is stored already, with other content */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["IngestProblem"];
                };
            };
            /** @description Nothing could be read */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["IngestProblem"] | components["schemas"]["Problem"];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_trajectory: {
        parameters: {
            query?: {
                /** @description The project; its name has no NUL. */
                project?: string;
            };
            header?: never;
            path: {
                /** @description Ours, or `ext:` and the client's own, percent-encoded. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TrajectoryOut"];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_credits: {
        parameters: {
            query: {
                /** @description Id, or attributor: its newest finished run */
                run: string;
                /** @description The project; its name has no NUL. */
                project?: string;
            };
            header?: never;
            path: {
                /** @description Ours, or `ext:` and the client's own, percent-encoded. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreditColumns"];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_span_credits: {
        parameters: {
            query?: {
                /** @description The project; its name has no NUL. */
                project?: string;
            };
            header?: never;
            path: {
                /** @description Ours, or `ext:` and the client's own, percent-encoded. */
                id: string;
                span: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SpanCredits"];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_edge_edits: {
        parameters: {
            query?: {
                /** @description The project; its name has no NUL. */
                project?: string;
            };
            header?: never;
            path: {
                /** @description Ours, or `ext:` and the client's own, percent-encoded. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EdgeEdits"];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    edit_edge: {
        parameters: {
            query?: {
                /** @description The project; its name has no NUL. */
                project?: string;
            };
            header?: never;
            path: {
                /** @description Ours, or `ext:` and the client's own, percent-encoded. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "action": "remove",
                 *       "child": 6,
                 *       "parent": 3,
                 *       "person": "Ann",
                 *       "reason": "the id came from the user, not from this result"
                 *     }
                 */
                "application/json": components["schemas"]["EdgeEditRequest"];
            };
        };
        responses: {
            /** @description What is in force now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EdgeEdits"];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    withdraw_edge_edit: {
        parameters: {
            query: {
                parent: number;
                child: number;
                reason: string;
                person: string;
                /** @description The project; its name has no NUL. */
                project?: string;
            };
            header?: never;
            path: {
                /** @description Ours, or `ext:` and the client's own, percent-encoded. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What is in force now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EdgeEdits"];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    preview_edge_edits: {
        parameters: {
            query?: {
                /** @description The project; its name has no NUL. */
                project?: string;
            };
            header?: never;
            path: {
                /** @description Ours, or `ext:` and the client's own, percent-encoded. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "changes": [
                 *         {
                 *           "action": "remove",
                 *           "child": 6,
                 *           "parent": 3
                 *         }
                 *       ],
                 *       "run": "dag"
                 *     }
                 */
                "application/json": components["schemas"]["EdgeEditPreviewRequest"];
            };
        };
        responses: {
            /** @description Its numbers before and after; nothing is stored */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EdgeEditPreview"];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    find_text: {
        parameters: {
            query: {
                /** @description Plain text, upper case or lower */
                q: string;
                /** @description The first span searched */
                from?: number;
                /** @description The project; its name has no NUL. */
                project?: string;
            };
            header?: never;
            path: {
                /** @description Ours, or `ext:` and the client's own, percent-encoded. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FoundOut"];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_graph: {
        parameters: {
            query?: {
                /** @description The project; its name has no NUL. */
                project?: string;
            };
            header?: never;
            path: {
                /** @description Ours, or `ext:` and the client's own, percent-encoded. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EdgeColumns"];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_edges: {
        parameters: {
            query?: {
                /** @description The project; its name has no NUL. */
                project?: string;
            };
            header?: never;
            path: {
                /** @description Ours, or `ext:` and the client's own, percent-encoded. */
                id: string;
                span: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EdgeEvidenceList"];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_opinions: {
        parameters: {
            query?: {
                /** @description The project; its name has no NUL. */
                project?: string;
            };
            header?: never;
            path: {
                /** @description Ours, or `ext:` and the client's own, percent-encoded. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpinionsOut"];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_raw: {
        parameters: {
            query?: {
                /** @description The project; its name has no NUL. */
                project?: string;
            };
            header?: never;
            path: {
                /** @description Ours, or `ext:` and the client's own, percent-encoded. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The canonical line, as an attachment */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_texts: {
        parameters: {
            query?: {
                from?: number;
                /** @description Without it; 200 at once */
                to?: number | null;
                /** @description Characters a span; longer ones are cut */
                most?: number;
                /** @description The project; its name has no NUL. */
                project?: string;
            };
            header?: never;
            path: {
                /** @description Ours, or `ext:` and the client's own, percent-encoded. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SpanTextWindow"];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_text: {
        parameters: {
            query?: {
                /** @description Characters */
                from?: number;
                /** @description Without it */
                to?: number | null;
                /** @description The project; its name has no NUL. */
                project?: string;
            };
            header?: never;
            path: {
                /** @description Ours, or `ext:` and the client's own, percent-encoded. */
                id: string;
                span: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description As an attachment */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_why: {
        parameters: {
            query: {
                /** @description Id, or attributor: its newest finished run */
                run: string;
                span: number;
                /** @description The project; its name has no NUL. */
                project?: string;
            };
            header?: never;
            path: {
                /** @description Ours, or `ext:` and the client's own, percent-encoded. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Why"];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    healthz: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            /** @description What is wrong, where, and what to do */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
}
